import {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  ChangeMessageVisibilityCommand,
} from '@aws-sdk/client-sqs';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Pointer } from '../../../lambdas/domain/pointer.ts';
import { callbackOf } from '../../support/publish.ts';
import { startInProcess } from '../../support/inProcess.ts';
import { startReceiver, type Delivery, type Inbox, type Receiver } from '../../support/receiver.ts';

/**
 * What if the process dies here? A worker is killed at each of its AWS calls, once before the call is made and once
 * after it was made but before its answer is seen; then its pointer comes back, as SQS has it.
 */

let stop: () => Promise<void>;
let receiver: Receiver;
let world: Awaited<ReturnType<typeof importWorld>>;

async function importWorld() {
  const [
    { deliver },
    { publish },
    { createAccount },
    { loadAccount },
    { dynamodb },
    { sqs },
    { settings },
    pointers,
  ] = await Promise.all([
    import('../../../lambdas/services/deliver.ts'),
    import('../../../lambdas/services/publish.ts'),
    import('../../../lambdas/services/accounts.ts'),
    import('../../../lambdas/stores/accounts.ts'),
    import('../../../lambdas/stores/dynamodb.ts'),
    import('../../../lambdas/transport/queue.ts'),
    import('../../../lambdas/settings.ts'),
    import('../../../lambdas/domain/pointer.ts'),
  ]);
  await createAccount({ id: 'acct', type: 'paid' });
  const account = await loadAccount('acct', true);
  if (account === undefined) throw new Error('There is no account.');
  return { deliver, publish, account, dynamodb, sqs, settings, parsePointer: pointers.parsePointer };
}

/** The process is dead: this call, and every call after it, fails. */
class Death extends Error {}

interface Fate {
  /** The AWS call at which it comes, the first being 1. */
  readonly call: number;
  readonly when: 'before' | 'after';
  /** Only that one call fails; the process lives on. */
  readonly survived?: boolean;
}

let fate: Fate | undefined;
let calls = 0;

/** Counts a call and lets it be the last. */
async function mortal<T>(make: () => Promise<T>): Promise<T> {
  calls += 1;
  const mine = calls;
  const fails = (when: Fate['when']): boolean =>
    fate !== undefined &&
    ((mine === fate.call && fate.when === when) || (mine > fate.call && fate.survived !== true));
  if (fails('before')) throw new Death();
  const result = await make();
  if (fails('after')) throw new Death();
  return result;
}

beforeAll(async () => {
  const inProcess = await startInProcess();
  stop = () => inProcess.stop();
  receiver = await startReceiver();
  world = await importWorld();
  const options = { step: 'initialize', name: 'mortal' } as const;
  world.dynamodb.middlewareStack.add((next) => (args) => mortal(() => next(args)), options);
  world.sqs.middlewareStack.add((next) => (args) => mortal(() => next(args)), options);
});
afterAll(async () => {
  await receiver.close();
  await stop();
});
beforeEach(() => {
  fate = undefined;
  calls = 0;
});

interface Received {
  readonly pointer: Pointer;
  readonly handle: string;
  readonly queueUrl: string;
}

async function receive(): Promise<readonly Received[]> {
  const found = await Promise.all(
    [world.settings.shortQueueUrl, world.settings.longQueueUrl].map(async (queueUrl) => {
      const { Messages = [] } = await world.sqs.send(
        new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10 }),
      );
      return Messages.map(({ Body = '', ReceiptHandle: handle = '' }) => ({
        pointer: world.parsePointer(Body),
        handle,
        queueUrl,
      }));
    }),
  );
  return found.flat();
}

/** Works on all pointers until none is left, as the event source does; a worker that dies gives its pointer back. */
async function work(death?: Fate): Promise<number> {
  let made = 0;
  let alive = death === undefined;
  for (;;) {
    const batch = await receive();
    if (batch.length === 0) return made;
    for (const { pointer, handle, queueUrl } of batch) {
      if (!alive) {
        fate = death === undefined ? undefined : { ...death, call: death.call - made };
        calls = 0;
      }
      const done = await world.deliver(pointer).then(
        () => true,
        () => false,
      );
      if (!alive) made += calls;
      if (!done) alive = true;
      fate = undefined;
      const message = { QueueUrl: queueUrl, ReceiptHandle: handle };
      if (done) await world.sqs.send(new DeleteMessageCommand(message));
      else await world.sqs.send(new ChangeMessageVisibilityCommand({ ...message, VisibilityTimeout: 0 }));
    }
  }
}

async function publish(url: string, config: Record<string, string>, body = 'work'): Promise<string> {
  const { body: answer } = await world.publish(world.account, {
    prefix: 'Svc',
    config: new Map(Object.entries(config).map(([name, value]) => [name, [value]])),
    otherHeaders: [],
    otherQuery: [],
    destination: url,
    body: Buffer.from(body),
    callerIp: '127.0.0.1',
    host: 'api.example.com',
  });
  return 'messageId' in answer ? answer.messageId : '';
}

async function deadLettersOf(messageId: string): Promise<number> {
  const { Count = 0 } = await world.dynamodb.send(
    new ScanCommand({
      TableName: world.settings.dlqTable,
      FilterExpression: 'messageId = :id',
      ExpressionAttributeValues: { ':id': { S: messageId } },
      ConsistentRead: true,
    }),
  );
  return Count;
}

const ids = (deliveries: readonly Delivery[]): Set<string | undefined> =>
  new Set(deliveries.map(({ headers }) => headers['svc-message-id']));

interface Scene {
  readonly inbox: Inbox;
  readonly callbacks: Inbox;
  readonly failures: Inbox;
  readonly messageId: string;
}

/** A message that fails twice, with all that can follow from it. */
async function failingMessage(): Promise<Scene> {
  const inbox = receiver.inbox((_delivery, response) => response.writeHead(500).end('no'));
  const callbacks = receiver.inbox();
  const failures = receiver.inbox();
  const messageId = await publish(inbox.url, {
    retries: '1',
    'retry-delay': '0',
    callback: callbacks.url,
    'failure-callback': failures.url,
  });
  return { inbox, callbacks, failures, messageId };
}

describe('a worker that makes a failing message’s way', () => {
  it('makes so many AWS calls in all', async () => {
    const scene = await failingMessage();
    expect(calls).toBe(2);
    const made = await work({ call: 1_000, when: 'before' });
    expect(scene.inbox.deliveries).toHaveLength(2);
    // Two attempts: read, two writes each and what follows; three callbacks: read and write.
    expect(made).toBeLessThanOrEqual(22);
    expect(made).toBeGreaterThan(10);
  });

  const deaths = Array.from({ length: 22 }, (_, index) => index + 1).flatMap((call) =>
    (['before', 'after'] as const).map((when) => ({ call, when })),
  );
  it.each(deaths)('and dies $when its AWS call $call loses nothing', async (death) => {
    const { inbox, callbacks, failures, messageId } = await failingMessage();
    await work(death);

    // The attempt in flight may have been made twice, and no other.
    const tries = inbox.deliveries.map(({ headers }) => headers['svc-retried']);
    expect(new Set(tries)).toEqual(new Set(['0', '1']));
    expect(tries.length).toBeLessThanOrEqual(3);

    // Each callback is one message, delivered at least once, and tells of its own attempt.
    expect(ids(callbacks.deliveries).size).toBe(2);
    expect(new Set(callbacks.deliveries.map((delivery) => callbackOf(delivery).retried))).toEqual(
      new Set([0, 1]),
    );
    expect(ids(failures.deliveries).size).toBe(1);
    expect(failures.deliveries[0] && callbackOf(failures.deliveries[0])).toMatchObject({
      sourceMessageId: messageId,
      retried: 1,
    });
    expect(await deadLettersOf(messageId)).toBe(1);
  });
});

describe('two workers with the same pointer', () => {
  it('make one record, one callback message and one dead letter', async () => {
    const inbox = receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const failures = receiver.inbox();
    const messageId = await publish(inbox.url, { retries: '0', 'failure-callback': failures.url });
    const [received] = await receive();
    if (received === undefined) throw new Error('There is no pointer.');
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, () => world.deliver(received.pointer)),
    );
    expect(outcomes.some(({ status }) => status === 'fulfilled')).toBe(true);
    // A worker whose record came second gives the pointer back; when it returns, what follows is done to no effect.
    await world.deliver(received.pointer);
    await work();
    expect(ids(failures.deliveries).size).toBe(1);
    expect(await deadLettersOf(messageId)).toBe(1);
  });
});

describe('a publish', () => {
  it.each([
    { call: 1, when: 'before' },
    { call: 1, when: 'after' },
    { call: 2, when: 'before' },
    { call: 2, when: 'after' },
  ] as const)(
    'whose storing fails $when call $call is not accepted, and never delivered',
    async (failure) => {
      const inbox = receiver.inbox();
      fate = { ...failure, survived: true };
      await expect(publish(inbox.url, {})).rejects.toThrow();
      fate = undefined;
      await work();
      expect(inbox.deliveries).toHaveLength(0);
    },
  );
});
