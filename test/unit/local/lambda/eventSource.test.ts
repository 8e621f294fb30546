import type { SQSEvent } from 'aws-lambda';
import { afterEach, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { startEventSource, type EventSource } from '../../../../local/lambda/eventSource.ts';
import { toFunction } from '../../../../local/lambda/lambda.ts';
import { Queues } from '../../../../local/sqs/queues.ts';
import { Store } from '../../../../local/store/store.ts';

const region = 'eu-central-1';
const endings: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
});

const isEvent = z.custom<SQSEvent>(
  (value) => z.object({ Records: z.array(z.unknown()) }).safeParse(value).success,
);

function start(
  invoke: (event: SQSEvent) => unknown,
  visibilityTimeoutMs = 70_000,
  maximumConcurrency?: number,
  batchSize?: number,
) {
  const reported: unknown[] = [];
  const first = signal<unknown>();
  const report = (error: unknown): void => {
    reported.push(error);
    first.give(error);
  };
  const queues = new Queues([{ name: 'work', visibilityTimeoutMs }], new Store(undefined), Date.now);
  const map = (): EventSource =>
    startEventSource({
      queues,
      queue: 'work',
      region,
      function: { name: 'work', invoke: async (event) => Promise.resolve(invoke(isEvent.parse(event))) },
      maximumConcurrency,
      ...(batchSize !== undefined && { batchSize }),
      report,
    });
  endings.push(() => {
    queues.close();
  });
  return {
    reported,
    firstReport: first.given,
    map: () => {
      const source = map();
      endings.push(() => source.stop(AbortSignal.abort()));
      return source;
    },
    send: (...bodies: readonly string[]) =>
      queues.send(
        'work',
        bodies.map((body) => ({ body, delayMs: 0, groupId: 'g' })),
      ).sent,
    counts: () => {
      const messages = queues.unsettled('work');
      const inFlight = messages.filter((message) => message.inFlight).length;
      return { visible: messages.length - inFlight, inFlight };
    },
  };
}

function signal<Value>(): { readonly given: Promise<Value>; readonly give: (value: Value) => void } {
  let give: (value: Value) => void = () => undefined;
  const given = new Promise<Value>((resolve) => (give = resolve));
  return { given, give };
}

test('the function is given a batch as AWS gives it', async () => {
  const { given, give } = signal<SQSEvent>();
  const { send, map } = start(give);
  await send('a', 'b');
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

test('only the failed messages are redelivered after the visibility timeout', async () => {
  const { given, give } = signal<SQSEvent>();
  const batches: SQSEvent[] = [];
  const { send, map, counts } = start((event) => {
    batches.push(event);
    if (batches.length === 2) give(event);
    const failed = event.Records.filter(({ body }) => body === 'bad' && batches.length === 1);
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  }, 100);
  await send('good', 'bad', 'good too');
  const source = map();
  const again = await given;
  expect(again.Records).toMatchObject([{ body: 'bad', attributes: { ApproximateReceiveCount: '2' } }]);
  await source.stop(new AbortController().signal);
  expect(counts()).toEqual({ visible: 0, inFlight: 0 });
});

test.each([
  ['throws', () => Promise.reject(new Error('crash'))],
  ['answers in another form', () => ({ batchItemFailures: 'all' })],
  ['names a message that is not there', () => ({ batchItemFailures: [{ itemIdentifier: 'other' }] })],
])('all fail when the function %s', async (_, answer) => {
  const { given, give } = signal<SQSEvent>();
  let calls = 0;
  const { send, map, reported } = start((event) => {
    calls += 1;
    if (calls === 1) return answer();
    give(event);
    return undefined;
  }, 50);
  await send('a', 'b');
  map();
  expect((await given).Records).toHaveLength(2);
  expect(reported).toHaveLength(1);
});

test('a batch whose function times out is redelivered, and what the function still does is ignored', async () => {
  const { given, give } = signal<SQSEvent>();
  const finish = signal<undefined>();
  const slow = toFunction('deliver', () => finish.given, { region, timeoutMs: 20 });
  let calls = 0;
  const { send, map, reported, firstReport, counts } = start((event) => {
    calls += 1;
    if (calls === 1) return slow.invoke(event);
    give(event);
    return undefined;
  }, 50);
  await send('a', 'b');
  const source = map();
  const again = await given;
  expect(new Set(again.Records.map(({ body }) => body))).toEqual(new Set(['a', 'b']));
  await firstReport;
  finish.give(undefined);
  await source.stop(new AbortController().signal);
  expect(reported).toMatchObject([{ message: 'Task timed out after 0.02 seconds' }]);
  expect(counts()).toEqual({ visible: 0, inFlight: 0 });
});

test('a slow batch does not hold back the next', async () => {
  const { given, give } = signal<SQSEvent>();
  const slow = signal<undefined>();
  const { send, map } = start((event) => {
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

test('at most the maximum concurrency of invocations run at once, and waiting messages stay in the queue', async () => {
  const full = signal<undefined>();
  const finish = signal<undefined>();
  const done = signal<undefined>();
  let running = 0;
  let most = 0;
  let handled = 0;
  const { send, map, counts } = start(
    async ({ Records }) => {
      running += 1;
      most = Math.max(most, running);
      if (running === 3) full.give(undefined);
      await finish.given;
      running -= 1;
      handled += Records.length;
      if (handled === 100) done.give(undefined);
    },
    70_000,
    3,
  );
  for (let batch = 0; batch < 10; batch++) await send(...Array.from({ length: 10 }, () => 'x'));
  map();
  await full.given;
  // Nothing is received for an invocation that may not start: that would count as a receive.
  expect(counts()).toEqual({ visible: 70, inFlight: 30 });
  finish.give(undefined);
  await done.given;
  expect(most).toBe(3);
});

test.each([1, 1_001])('a maximum concurrency of %d is refused, as Lambda refuses it', (maximum) => {
  const { map } = start(() => undefined, 70_000, maximum);
  expect(() => map()).toThrow(`The maximum concurrency is ${maximum}; Lambda takes 2 to 1000.`);
});

test('a stop waits for the invocations in flight, and deletes their messages', async () => {
  const taken = signal<SQSEvent>();
  const finish = signal<undefined>();
  const { send, map, counts } = start((event) => {
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
  expect(counts()).toEqual({ visible: 1, inFlight: 0 });
});

test('an end after a stop that gave up is ignored: the queue may be closed, and the message stays in it', async () => {
  const invoked = signal<SQSEvent>();
  const answer = signal<object>();
  const { send, map, counts, reported } = start((event) => {
    invoked.give(event);
    return answer.given;
  });
  await send('slow');
  const source = map();
  await invoked.given;
  await source.stop(AbortSignal.abort());
  answer.give({ batchItemFailures: [] });
  // All consequences of the answer happen in this turn of the event loop.
  await new Promise(setImmediate);
  expect(counts()).toEqual({ visible: 0, inFlight: 1 });
  expect(reported).toEqual([]);
});
