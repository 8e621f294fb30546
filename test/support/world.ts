import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
} from '@aws-sdk/client-sqs';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import type { Pointer } from '../../lambdas/domain/pointer.ts';
import { startInProcess } from './inProcess.ts';
import { startReceiver, type Delivery } from './receiver.ts';

/**
 * The services in this very process, over the stand-ins for AWS, with a process that can be made to die: at each of its
 * AWS calls, once before the call is made and once after it was made but before its answer is seen.
 */
export type World = Awaited<ReturnType<typeof openWorld>>;

/** The process is dead: this call, and every call after it, fails. */
export class Death extends Error {}

export interface Fate {
  /** The AWS call at which it comes, the first being 1. */
  readonly call: number;
  readonly when: 'before' | 'after';
  /** Only that one call fails; the process lives on. */
  readonly survived?: boolean;
}

/** One death for each of so many AWS calls, before it and after it. */
export const deathsAt = (calls: number): readonly Fate[] =>
  Array.from({ length: calls }, (_, index) => index + 1).flatMap((call) =>
    (['before', 'after'] as const).map((when) => ({ call, when })),
  );

export interface Received {
  readonly pointer: Pointer;
  readonly handle: string;
  readonly queueUrl: string;
}

export const idsOf = (deliveries: readonly Delivery[]): ReadonlySet<string | undefined> =>
  new Set(deliveries.map(({ headers }) => headers['svc-message-id']));

/** What a request configures, by canonical name. */
export const configOf = (config: Readonly<Record<string, string>>): ReadonlyMap<string, readonly string[]> =>
  new Map(Object.entries(config).map(([name, value]) => [name, [value]]));

/** A request to publish, as the handlers hand it on. */
export const requestOf = (
  destination: string,
  config: Readonly<Record<string, string>> = {},
  body = 'work',
) => ({
  prefix: 'Svc',
  config: configOf(config),
  otherHeaders: [],
  otherQuery: [],
  destination,
  body: Buffer.from(body),
  callerIp: '127.0.0.1',
  host: 'api.example.com',
});

async function importLambdas() {
  const [deliver, publish, accounts, stores, usage, dynamodb, queue, settings, pointers] = await Promise.all([
    import('../../lambdas/services/deliver.ts'),
    import('../../lambdas/services/publish.ts'),
    import('../../lambdas/domain/account.ts'),
    import('../../lambdas/stores/accounts.ts'),
    import('../../lambdas/services/usage.ts'),
    import('../../lambdas/stores/dynamodb.ts'),
    import('../../lambdas/transport/queue.ts'),
    import('../../lambdas/settings.ts'),
    import('../../lambdas/domain/pointer.ts'),
  ]);
  return {
    deliver: deliver.deliver,
    publishRequest: publish.publish,
    newAccount: accounts.newAccount,
    loadAccount: stores.loadAccount,
    saveAccount: stores.saveAccount,
    gateOf: usage.gateOf,
    dynamodb: dynamodb.dynamodb,
    sqs: queue.sqs,
    settings: settings.settings,
    parsePointer: pointers.parsePointer,
  };
}

export async function openWorld() {
  const inProcess = await startInProcess();
  const receiver = await startReceiver();
  const lambdas = await importLambdas();
  const { deliver, dynamodb, sqs, settings } = lambdas;
  const account = lambdas.newAccount({
    id: 'acct',
    plan: 'paid',
    region: settings.region,
    createdAt: Date.now(),
  });
  await lambdas.saveAccount(account, undefined);
  // What a process finds out once a day is not part of any message's way.
  await lambdas.gateOf(account, 1);

  let fate: Fate | undefined;
  let refused: string | undefined;
  let calls = 0;
  /** How often each AWS operation was called. */
  let operations = new Map<string, number>();

  /** Counts a call and lets it be the last. */
  async function mortal<T>(operation: string, make: () => Promise<T>): Promise<T> {
    calls += 1;
    operations.set(operation, (operations.get(operation) ?? 0) + 1);
    const mine = calls;
    const fails = (when: Fate['when']): boolean =>
      fate !== undefined &&
      ((mine === fate.call && fate.when === when) || (mine > fate.call && fate.survived !== true));
    if (fails('before') || operation === refused) throw new Death();
    const result = await make();
    if (fails('after')) throw new Death();
    return result;
  }

  const options = { step: 'initialize', name: 'mortal' } as const;
  dynamodb.middlewareStack.add(
    (next, context) => (args) => mortal(context.commandName ?? '', () => next(args)),
    options,
  );
  sqs.middlewareStack.add(
    (next, context) => (args) => mortal(context.commandName ?? '', () => next(args)),
    options,
  );

  function reset(death?: Fate): void {
    fate = death;
    refused = undefined;
    calls = 0;
    operations = new Map();
  }

  async function receive(): Promise<readonly Received[]> {
    const found = await Promise.all(
      [settings.shortQueueUrl, settings.longQueueUrl].map(async (queueUrl) => {
        const { Messages = [] } = await sqs.send(
          new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10 }),
        );
        return Messages.map(({ Body = '', ReceiptHandle: handle = '' }) => ({
          pointer: lambdas.parsePointer(Body),
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
        if (!alive) reset(death && { ...death, call: death.call - made });
        const done = await deliver(pointer).then(
          () => true,
          () => false,
        );
        if (!alive) made += calls;
        if (!done) alive = true;
        fate = undefined;
        const message = { QueueUrl: queueUrl, ReceiptHandle: handle };
        if (done) await sqs.send(new DeleteMessageCommand(message));
        else await sqs.send(new ChangeMessageVisibilityCommand({ ...message, VisibilityTimeout: 0 }));
      }
    }
  }

  /** Takes all pointers out of the queues. */
  async function drain(): Promise<readonly Pointer[]> {
    const pointers: Pointer[] = [];
    for (let batch = await receive(); batch.length > 0; batch = await receive()) {
      for (const { pointer, handle, queueUrl } of batch) {
        pointers.push(pointer);
        await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: handle }));
      }
    }
    return pointers;
  }

  const publish = (...request: Parameters<typeof requestOf>) =>
    lambdas.publishRequest(account, requestOf(...request));

  return {
    ...lambdas,
    account,
    receiver,
    /** Starts to count anew, for a process that lives on, or for one that dies. */
    reset,
    /** Lets every call of an operation fail, until the next reset. */
    refuse: (operation: string): void => {
      refused = operation;
    },
    /** Counts a call of a client that was made later, and lets it fail as the others do. */
    mortal,
    /** AWS calls since the last reset. */
    calls: () => calls,
    callsOf: (operation: string): number => operations.get(operation) ?? 0,
    receive,
    drain,
    work,
    publish,
    /** Publishes to a URL; the message's id. */
    send: async (...request: Parameters<typeof publish>): Promise<string> => {
      const { body } = await publish(...request);
      if (!('messageId' in body)) throw new Error('Several messages were published.');
      return body.messageId;
    },
    deadLettersOf: async (messageId: string): Promise<number> => {
      const { Count = 0 } = await dynamodb.send(
        new ScanCommand({
          TableName: settings.dlqTable,
          FilterExpression: 'messageId = :id AND attribute_not_exists(removedAt)',
          ExpressionAttributeValues: { ':id': { S: messageId } },
          ConsistentRead: true,
        }),
      );
      return Count;
    },
    close: async (): Promise<void> => {
      await receiver.close();
      await inProcess.stop();
    },
  };
}
