import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as sdk from '@aws-sdk/client-sqs';
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
  SendMessageBatchCommand,
  SendMessageCommand,
  type Message,
} from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { handingOver } from '../../../../local/aws/handOver.ts';
import { Queues } from '../../../../local/sqs/queues.ts';
import { ownersIn, storedMessages } from '../../../../local/sqs/storedMessages.ts';
import { Store } from '../../../../local/store/store.ts';
import { nextStore } from '../../../support/nextStore.ts';
import { startSqs } from '../../../../local/sqs/sqs.ts';

const retentionMs = 14 * 86_400_000;
const queues = [
  { name: 'work', visibilityTimeoutMs: 70_000, retentionMs, redrive: { deadQueue: 'dead', maxReceives: 3 } },
  { name: 'dead', visibilityTimeoutMs: 70_000, retentionMs },
];

let clock = 0;
let folder = '';
const endings: (() => Promise<void> | void)[] = [];

beforeEach(() => {
  clock = 1_800_000_000_000;
  folder = mkdtempSync(join(tmpdir(), 'svc-sqs-'));
  endings.push(() => {
    rmSync(folder, { recursive: true });
  });
});

afterEach(async () => {
  for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
});

/** Starts the stand-in with a clock that only the test moves. */
async function start(store = new Store(undefined)) {
  const failures: unknown[] = [];
  const report = (error: unknown): void => void failures.push(error);
  const sqs = await startSqs({ queues, region: 'eu-central-1', store, now: () => clock, report });
  const client = new SQSClient({
    endpoint: sqs.url,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
    maxAttempts: 1,
  });
  endings.push(async () => {
    client.destroy();
    await sqs.close();
    expect(failures).toEqual([]);
  });
  const QueueUrl = sqs.queueUrl('work');
  return {
    client,
    QueueUrl,
    queues: sqs.queues,
    deadUrl: sqs.queueUrl('dead'),
    send: async (MessageBody: string, DelaySeconds?: number) =>
      client.send(new SendMessageCommand({ QueueUrl, MessageBody, DelaySeconds })),
    receive: async (WaitTimeSeconds = 0, from = QueueUrl): Promise<Message[]> => {
      const attributes = { MessageSystemAttributeNames: ['All' as const] };
      const input = { QueueUrl: from, WaitTimeSeconds, MaxNumberOfMessages: 10, ...attributes };
      return (await client.send(new ReceiveMessageCommand(input))).Messages ?? [];
    },
    pass: (ms: number): void => {
      clock += ms;
      sqs.queues.wake();
    },
  };
}

const bodies = (messages: readonly Message[]): (string | undefined)[] => messages.map(({ Body }) => Body);

describe('a message', () => {
  test('arrives unchanged, with its attributes', async () => {
    const { client, QueueUrl, receive } = await start();
    const MessageBody = 'ünï\n"quoted" 🙂';
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody, MessageGroupId: 'local/host' }));
    clock += 250;
    const [message] = await receive();
    expect(message?.Body).toBe(MessageBody);
    expect(message?.Attributes).toEqual({
      SenderId: '000000000000',
      SentTimestamp: '1800000000000',
      ApproximateReceiveCount: '1',
      ApproximateFirstReceiveTimestamp: '1800000000250',
      MessageGroupId: 'local/host',
    });
  });

  test('with a delay becomes visible to the millisecond, also to a long poll', async () => {
    const { send, receive, pass } = await start();
    await send('later', 900);
    pass(899_999);
    expect(await receive()).toEqual([]);
    const polled = receive(20);
    pass(1);
    expect(bodies(await polled)).toEqual(['later']);
  });

  test('with a short delay becomes visible without a call', async () => {
    const { send, receive } = await start();
    const timer = setInterval(() => (clock += 10), 10);
    endings.push(() => {
      clearInterval(timer);
    });
    await send('soon', 1);
    expect(bodies(await receive(20))).toEqual(['soon']);
  });

  test.each([-1, 901])('with a delay of %i s is refused in the words of SQS', async (delay) => {
    const { send, receive } = await start();
    await expect(send('x', delay)).rejects.toThrow(
      `Value ${delay} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.`,
    );
    expect(await receive()).toEqual([]);
  });

  test('longer than 1 MiB is refused', async () => {
    const { send } = await start();
    await send('x'.repeat(1_048_576));
    await expect(send('x'.repeat(1_048_577))).rejects.toThrow('must be shorter than 1048576 bytes');
  });
});

describe('a receive', () => {
  test('hides the message for the visibility timeout and counts', async () => {
    const { send, receive, pass } = await start();
    await send('a');
    await receive();
    pass(69_999);
    expect(await receive()).toEqual([]);
    pass(1);
    const [again] = await receive();
    expect(again?.Attributes?.ApproximateReceiveCount).toBe('2');
  });

  test('invalidates earlier receipts', async () => {
    const { client, QueueUrl, send, receive, pass } = await start();
    const remove = async (message: Message | undefined): Promise<unknown> =>
      client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message?.ReceiptHandle }));
    await send('a');
    const [first] = await receive();
    pass(70_000);
    const [second] = await receive();
    await remove(first);
    pass(70_000);
    const [third] = await receive();
    expect(third?.Body).toBe('a');
    await remove(second);
    await remove(third);
    pass(70_000);
    expect(await receive()).toEqual([]);
  });

  test('can be given back at once', async () => {
    const { client, QueueUrl, send, receive } = await start();
    await send('a');
    const [message] = await receive();
    const input = { QueueUrl, ReceiptHandle: message?.ReceiptHandle, VisibilityTimeout: 0 };
    await client.send(new ChangeMessageVisibilityCommand(input));
    expect(bodies(await receive())).toEqual(['a']);
    await expect(client.send(new ChangeMessageVisibilityCommand(input))).rejects.toMatchObject({
      name: 'MessageNotInflight',
    });
  });

  test('beyond the limit moves the message to the dead-letter queue', async () => {
    const { deadUrl, send, receive, pass } = await start();
    await send('poison');
    for (let count = 1; count <= 3; count++) {
      expect(bodies(await receive())).toEqual(['poison']);
      pass(70_000);
    }
    const polled = receive(20, deadUrl);
    expect(await receive()).toEqual([]);
    const [dead] = await polled;
    expect(dead?.Body).toBe('poison');
    expect(dead?.Attributes?.DeadLetterQueueSourceArn).toBe('arn:aws:sqs:eu-central-1:000000000000:work');
  });

  test('is kept for its queue’s retention, which a dead-letter queue counts from the same time', async () => {
    const { deadUrl, send, receive, pass } = await start();
    await send('old');
    await send('dead');
    pass(retentionMs - 5 * 70_000);
    for (let count = 1; count <= 4; count++) {
      await receive();
      pass(70_000);
    }
    expect(bodies(await receive(0, deadUrl)).sort()).toEqual(['dead', 'old']);
    await send('young');
    pass(70_000);
    expect(await receive(0, deadUrl)).toEqual([]);
    expect(bodies(await receive())).toEqual(['young']);
    pass(retentionMs);
    expect(await receive()).toEqual([]);
  });

  test('receives nothing if its client has hung up', async () => {
    const work = new Queues(queues, new Store(undefined), () => clock);
    const hangUp = new AbortController();
    const polled = work.receive('work', { max: 1, waitMs: 20_000, signal: hangUp.signal });
    hangUp.abort();
    expect(await polled).toEqual([]);
    await work.send('work', [{ body: 'a', delayMs: 0, groupId: undefined }]).sent;
    expect(work.unsettled('work')).toMatchObject([{ receives: 0, inFlight: false }]);
    work.close();
  });
});

describe('the messages of a process', () => {
  const outgoing = (body: string) => [{ body, delayMs: 0, groupId: undefined }];
  const take = async (from: Queues): Promise<string[]> => {
    const options = { max: 10, waitMs: 0, signal: AbortSignal.timeout(60_000) };
    const taken = await from.receive('work', options);
    from.delete(taken.map(({ receipt }) => receipt));
    return taken.map(({ body }) => body).toSorted();
  };

  test('are received by it alone, until another adopts them', async () => {
    const store = new Store(undefined);
    const [one, two, three] = [0, 1, 2 ** 32 - 2].map(
      (owner) => new Queues(queues, store, () => clock, owner),
    );
    if (one === undefined || two === undefined || three === undefined) throw new Error('Three are made.');
    await one.send('work', outgoing('one')).sent;
    await two.send('work', outgoing('東京')).sent;
    await three.send('work', outgoing('three')).sent;
    expect(ownersIn(store)).toEqual([1, 2 ** 32 - 2]);
    expect(await take(two)).toEqual(['東京']);
    await store.committed();
    expect(ownersIn(store)).toEqual([2 ** 32 - 2]);
    one.adopt(2 ** 32 - 2);
    expect(await take(one)).toEqual(['one', 'three']);
    await store.committed();
    expect([...storedMessages(store)]).toEqual([]);
    await store.close();
  });

  test('are deleted also if the clock has stepped back since they were sent', async () => {
    const store = new Store(undefined);
    const before = new Queues(queues, store, () => clock);
    await before.send('work', outgoing('old')).sent;
    clock -= 60_000;
    const after = new Queues(queues, store, () => clock);
    expect(await take(after)).toEqual(['old']);
    await store.committed();
    expect([...storedMessages(store)]).toEqual([]);
    await store.close();
  });
});

describe('a batch', () => {
  test('is handled entry by entry', async () => {
    const { client, QueueUrl, receive } = await start();
    const Entries = [
      { Id: '0', MessageBody: 'good' },
      { Id: '1', MessageBody: 'too late', DelaySeconds: 901 },
      { Id: '2', MessageBody: 'good too', DelaySeconds: 0, MessageGroupId: 'g' },
    ];
    const sent = await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    expect(sent.Successful?.map(({ Id }) => Id)).toEqual(['0', '2']);
    expect(sent.Failed).toMatchObject([{ Id: '1', Code: 'InvalidParameterValue', SenderFault: true }]);
    const received = await receive();
    expect(new Set(bodies(received))).toEqual(new Set(['good', 'good too']));
    const handles = [received[0]?.ReceiptHandle, 'nonsense', received[1]?.ReceiptHandle];
    const deleted = await client.send(
      new DeleteMessageBatchCommand({
        QueueUrl,
        Entries: handles.map((ReceiptHandle, index) => ({ Id: String(index), ReceiptHandle })),
      }),
    );
    expect(deleted.Successful?.map(({ Id }) => Id)).toEqual(['0', '2']);
    expect(deleted.Failed).toMatchObject([{ Id: '1', Code: 'ReceiptHandleIsInvalid' }]);
  });

  test.each([
    ['EmptyBatchRequest', []],
    ['TooManyEntriesInBatchRequest', Array.from({ length: 11 }, (_, index) => String(index))],
  ])('is refused whole: %s', async (name, ids) => {
    const { client, QueueUrl, receive } = await start();
    const Entries = ids.map((Id) => ({ Id, MessageBody: 'x' }));
    const sent = client.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    await expect(sent).rejects.toMatchObject({ name });
    expect(await receive()).toEqual([]);
  });
});

describe('a queue', () => {
  test('counts its messages by their states', async () => {
    const { client, QueueUrl, send, receive } = await start();
    const names = ['', 'NotVisible', 'Delayed'].map(
      (state) => `ApproximateNumberOfMessages${state}` as 'ApproximateNumberOfMessages',
    );
    await send('received');
    await receive();
    await send('visible');
    await send('visible too');
    await send('delayed', 10);
    const counted = async () => {
      const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: names });
      return (await client.send(command)).Attributes;
    };
    expect(await counted()).toEqual({
      ApproximateNumberOfMessages: '2',
      ApproximateNumberOfMessagesNotVisible: '1',
      ApproximateNumberOfMessagesDelayed: '1',
    });
    clock += 10_000;
    expect(await counted()).toMatchObject({ ApproximateNumberOfMessages: '3' });
  });
});

describe('after the process was killed', () => {
  const startAgain = async () => start(nextStore(folder));

  test('sent messages exist at their times, and deleted ones do not', async () => {
    const before = await startAgain();
    await before.send('done');
    const [done] = await before.receive();
    await before.client.send(
      new DeleteMessageCommand({ QueueUrl: before.QueueUrl, ReceiptHandle: done?.ReceiptHandle }),
    );
    await before.send('now');
    await before.send('later', 10);

    const after = await startAgain();
    expect(bodies(await after.receive())).toEqual(['now']);
    after.pass(9_999);
    expect(await after.receive()).toEqual([]);
    after.pass(1);
    expect(bodies(await after.receive())).toEqual(['later']);
  });

  test('messages in flight are visible at once, with their receives counted', async () => {
    const before = await startAgain();
    await before.send('a');
    await before.receive();
    before.pass(70_000);
    await before.receive();

    const after = await startAgain();
    const [message] = await after.receive();
    expect(message?.Attributes?.ApproximateReceiveCount).toBe('3');
    after.pass(70_000);
    expect(await after.receive()).toEqual([]);
    expect(bodies(await after.receive(0, after.deadUrl))).toEqual(['a']);

    const last = await startAgain();
    expect(await last.receive()).toEqual([]);
    expect(bodies(await last.receive(0, last.deadUrl))).toEqual(['a']);
  });

  test('a receive is counted before the message is handed out', async () => {
    const before = await startAgain();
    await before.send('poison');
    const middle = await startAgain();
    await middle.receive();
    const after = await startAgain();
    const [message] = await after.receive();
    // The first start could not know that no process had received the message, so it counted a receive.
    expect(message?.Attributes?.ApproximateReceiveCount).toBe('3');
  });
});

describe('calls within the same process', () => {
  /** Starts a client that cannot use a socket, because nothing listens at its address. */
  async function startWithoutSocket() {
    const reported: unknown[] = [];
    const sqs = await startSqs({
      ...{ queues, region: 'eu-central-1', store: new Store(undefined), now: () => clock },
      report: (error) => void reported.push(error),
    });
    endings.push(sqs.close);
    const client = new SQSClient({
      endpoint: 'http://queues.invalid:1',
      region: 'eu-central-1',
      credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
      maxAttempts: 1,
      useQueueUrlAsEndpoint: false,
    });
    handingOver(new Map([['Sqs', { handOver: sqs.handOver, sdk: () => sdk }]]))('Sqs', client);
    return { client, sqs, reported };
  }

  test('a refusal has the words of SQS', async () => {
    const { client, sqs } = await startWithoutSocket();
    const large = { QueueUrl: sqs.queueUrl('work'), MessageBody: 'x'.repeat(1_048_577) };
    await expect(client.send(new SendMessageCommand(large))).rejects.toMatchObject({
      name: 'InvalidParameterValue',
      $metadata: { httpStatusCode: 400 },
    });
    const unknown = { QueueUrl: sqs.queueUrl('unknown'), MessageBody: 'x' };
    await expect(client.send(new SendMessageCommand(unknown))).rejects.toMatchObject({
      name: 'QueueDoesNotExist',
    });
  });

  test('a failure of the stand-in is reported, and answered with 500', async () => {
    const { client, sqs, reported } = await startWithoutSocket();
    const broken = new Error('The disk is full.');
    sqs.queues.send = () => {
      throw broken;
    };
    const message = { QueueUrl: sqs.queueUrl('work'), MessageBody: 'x' };
    await expect(client.send(new SendMessageCommand(message))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 500 },
    });
    expect(reported).toEqual([broken]);
  });
});
