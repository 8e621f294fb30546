import {
  SQSClient,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import type { SQSEvent } from 'aws-lambda';
import { afterEach, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { startEventSource, type EventSource } from '../../../local/eventSource.ts';
import { noJournal } from '../../../local/journal.ts';
import { queueArn, startSqs } from '../../../local/sqs.ts';

const region = 'eu-central-1';
const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
});

const isEvent = z.custom<SQSEvent>(
  (value) => z.object({ Records: z.array(z.unknown()) }).safeParse(value).success,
);

/** A queue, its real client, and a mapping from it to `invoke`. */
async function start(
  invoke: (event: SQSEvent) => unknown,
  visibilityTimeoutMs = 70_000,
  maxInvocations = 500,
) {
  const reported: unknown[] = [];
  const report = (error: unknown): void => void reported.push(error);
  const queues = [{ name: 'work', visibilityTimeoutMs }];
  const sqs = await startSqs({ queues, region, journal: noJournal, now: Date.now, report });
  const client = new SQSClient({
    endpoint: sqs.url,
    region,
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
  });
  const QueueUrl = sqs.queueUrl('work');
  const map = (): EventSource =>
    startEventSource({
      client,
      queueUrl: QueueUrl,
      queueArn: queueArn(region, 'work'),
      region,
      function: { name: 'work', invoke: async (event) => Promise.resolve(invoke(isEvent.parse(event))) },
      maxInvocations,
      report,
    });
  endings.push(async () => {
    client.destroy();
    await sqs.close();
  });
  return {
    reported,
    map: () => {
      const source = map();
      endings.push(() => source.stop(AbortSignal.abort()));
      return source;
    },
    send: async (MessageBody: string) => client.send(new SendMessageCommand({ QueueUrl, MessageBody })),
    sendBatch: async (bodies: readonly string[]) =>
      client.send(
        new SendMessageBatchCommand({
          QueueUrl,
          Entries: bodies.map((MessageBody, index) => ({
            Id: String(index),
            MessageBody,
            MessageGroupId: 'g',
          })),
        }),
      ),
    attributes: async () =>
      (await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }))).Attributes,
  };
}

/** A promise, and what settles it from outside. */
function signal<Value>(): { readonly given: Promise<Value>; readonly give: (value: Value) => void } {
  let give: (value: Value) => void = () => undefined;
  const given = new Promise<Value>((resolve) => (give = resolve));
  return { given, give };
}

test('the function is given a batch as AWS gives it', async () => {
  const { given, give } = signal<SQSEvent>();
  const { sendBatch, map } = await start(give);
  await sendBatch(['a', 'b']);
  map();
  const { Records } = await given;
  expect(new Set(Records.map(({ body }) => body))).toEqual(new Set(['a', 'b']));
  expect(Records[0]).toEqual({
    messageId: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
    receiptHandle: expect.stringMatching(/./) as unknown,
    body: Records[0]?.body,
    attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: expect.stringMatching(/^\d{13}$/) as unknown,
      SenderId: '000000000000',
      ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/) as unknown,
      MessageGroupId: 'g',
    },
    messageAttributes: {},
    md5OfBody: expect.stringMatching(/^[0-9a-f]{32}$/) as unknown,
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:eu-central-1:000000000000:work',
    awsRegion: 'eu-central-1',
  });
});

test('what failed comes again after the visibility timeout, and only that', async () => {
  const { given, give } = signal<SQSEvent>();
  const batches: SQSEvent[] = [];
  const { sendBatch, map, attributes } = await start((event) => {
    batches.push(event);
    if (batches.length === 2) give(event);
    const failed = event.Records.filter(({ body }) => body === 'bad' && batches.length === 1);
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  }, 100);
  await sendBatch(['good', 'bad', 'good too']);
  const source = map();
  const again = await given;
  expect(again.Records).toMatchObject([{ body: 'bad', attributes: { ApproximateReceiveCount: '2' } }]);
  await source.stop(new AbortController().signal);
  expect(await attributes()).toMatchObject({
    ApproximateNumberOfMessages: '0',
    ApproximateNumberOfMessagesNotVisible: '0',
  });
});

test.each([
  ['throws', () => Promise.reject(new Error('crash'))],
  ['answers in another form', () => ({ batchItemFailures: 'all' })],
  ['names a message that is not there', () => ({ batchItemFailures: [{ itemIdentifier: 'other' }] })],
])('all fail when the function %s', async (_, answer) => {
  const { given, give } = signal<SQSEvent>();
  let calls = 0;
  const { sendBatch, map, reported } = await start((event) => {
    calls += 1;
    if (calls === 1) return answer();
    give(event);
    return undefined;
  }, 50);
  await sendBatch(['a', 'b']);
  map();
  expect((await given).Records).toHaveLength(2);
  expect(reported).toHaveLength(1);
});

test('a slow batch does not hold back the next', async () => {
  const { given, give } = signal<SQSEvent>();
  const slow = signal<undefined>();
  const { send, map } = await start((event) => {
    if (event.Records[0]?.body === 'slow') return slow.given;
    give(event);
    return undefined;
  });
  map();
  await send('slow');
  await send('quick');
  expect((await given).Records).toMatchObject([{ body: 'quick' }]);
  slow.give(undefined);
});

test('no more invocations run at once than allowed', async () => {
  const done = signal<undefined>();
  let running = 0;
  let most = 0;
  let handled = 0;
  const { send, map } = await start(
    async ({ Records }) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      handled += Records.length;
      if (handled === 50) done.give(undefined);
    },
    70_000,
    3,
  );
  map();
  for (let count = 0; count < 50; count++) await send('x');
  await done.given;
  expect(most).toBeLessThanOrEqual(3);
});

test('a stop waits for the invocations in flight, and what they did is deleted', async () => {
  const taken = signal<SQSEvent>();
  const finish = signal<undefined>();
  const { send, map, attributes } = await start((event) => {
    taken.give(event);
    return finish.given;
  });
  const source = map();
  await send('a');
  await taken.given;
  const stopped = source.stop(new AbortController().signal);
  await send('after');
  finish.give(undefined);
  await stopped;
  expect(await attributes()).toMatchObject({
    ApproximateNumberOfMessages: '1',
    ApproximateNumberOfMessagesNotVisible: '0',
  });
});
