import type { SQSEvent, SQSRecord } from 'aws-lambda';
import * as z from 'zod';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { queueArn } from '../../../local/aws/arns.ts';
import { startEventSource } from '../../../local/lambda/eventSource.ts';
import { eventually } from '../../support/eventually.ts';
import { openFixture, type Fixture } from '../../support/fixture.ts';

/**
 * Finished messages of a batch are deleted at once and slow ones are moved, because an invocation takes as long as its slowest
 * message.
 */

let fixture: Fixture;
let lambdas: Awaited<ReturnType<typeof load>>;
/** The modules read their settings when they are loaded. */
async function load() {
  const worker = await import('../../../lambdas/worker/worker.ts');
  const slowJobs = await import('../../../lambdas/job/slowJobs.ts');
  return { ...worker, ...slowJobs };
}
beforeAll(async () => {
  fixture = await openFixture();
  lambdas = await load();
});
afterAll(() => fixture.close());

const holds = async (condition: () => boolean): Promise<void> => {
  await eventually(
    () => Promise.resolve(condition()),
    (is) => is,
  );
};

const queuesOf = () => fixture.standIns.sqs.queues;
const bodiesIn = (name: string): number => queuesOf().unsettled(name).length;

async function feed(
  queue: string,
  handler: (event: SQSEvent) => Promise<unknown>,
  whileWorking: () => Promise<void>,
): Promise<void> {
  const source = startEventSource({
    queues: queuesOf(),
    queue,
    region: fixture.settings.region,
    function: { name: queue, invoke: (event) => handler(event as SQSEvent) },
    report: (error) => {
      throw error;
    },
  });
  try {
    await whileWorking();
  } finally {
    await source.stop(AbortSignal.timeout(60_000));
  }
}

it('A finished message is deleted before the slowest one of its batch, which stays hidden', async () => {
  let finish = (): void => undefined;
  const slow = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const handler = lambdas.batchWorker({
    parse: (text) => text,
    perform: async (text) => (text.includes('slow') ? slow : undefined),
  });
  for (const text of ['{"quick":1}', '{"quick":2}', '{"slow":1}'])
    await fixture.standIns.sqs.send('long', text);
  const hidden = vi.spyOn(queuesOf(), 'changeVisibility');
  await feed('long', handler, async () => {
    await holds(() => bodiesIn('long') === 1);
    expect(queuesOf().unsettled('long')).toMatchObject([{ inFlight: true }]);
    // The function’s 900 s and 10 s more. On a slow machine quick messages may be hidden, too.
    expect(new Set(hidden.mock.calls.map(([, ms]) => ms))).toEqual(new Set([910_000]));
    finish();
    await holds(() => bodiesIn('long') === 0);
  });
  hidden.mockRestore();
});

it('A quick invocation makes no call to hide its messages', async () => {
  // Simulated, so that the invocation is quick on a slow machine, too.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  const handler = lambdas.batchWorker({ parse: (text) => text, perform: () => Promise.resolve() });
  fixture.reset();
  expect(await handler({ Records: [recordOf('short', '{}')] })).toEqual({ batchItemFailures: [] });
  vi.useRealTimers();
  expect(fixture.operations()).toEqual({});
});

const recordOf = (queue: string, body: string, receives = '1'): SQSRecord => ({
  messageId: body,
  receiptHandle: '',
  body,
  attributes: {
    ApproximateReceiveCount: receives,
    SentTimestamp: String(Date.now()),
    SenderId: '',
    ApproximateFirstReceiveTimestamp: '',
    MessageGroupId: 'acct',
  },
  messageAttributes: {},
  md5OfBody: '',
  eventSource: 'aws:sqs',
  eventSourceARN: queueArn(fixture.settings.region, queue),
  awsRegion: fixture.settings.region,
});

const nameIn = (text: string): string => z.object({ name: z.string() }).parse(JSON.parse(text)).name;

it.each([
  ['quick and slow jobs of a batch part', 'long', ['q', 's'], '1', ['q'], ['s acct:slow.example']],
  ['slow jobs stay together', 'long', ['s1', 's2'], '1', ['s1', 's2'], []],
  ['a job alone goes nowhere', 'short', ['s'], '1', ['s'], []],
  ['in the queue of slow jobs all are done', 'slow', ['q', 's'], '1', ['q', 's'], []],
  ['a job that was handed out before is done here', 'long', ['q', 's'], '2', ['q', 's'], []],
] as const)('%s', async (_, queue, names, receives, isDone, isHandedOn) => {
  const done: string[] = [];
  const handedOn: string[] = [];
  const handler = lambdas.batchWorker<string>({
    parse: (text) => text,
    perform: (text) => {
      done.push(nameIn(text));
      return Promise.resolve();
    },
    slow: {
      nameOf: (text) => (text.includes('"s') ? 'slow.example' : undefined),
      send: (text, group, name) => {
        handedOn.push(`${nameIn(text)} ${String(group)}:${name}`);
        return Promise.resolve();
      },
    },
  });
  const Records = names.map((name) => recordOf(queue, JSON.stringify({ name }), receives));
  expect(await handler({ Records })).toEqual({ batchItemFailures: [] });
  expect([done.sort(), handedOn]).toEqual([isDone, isHandedOn]);
});

it('A host is slow while its answers take more than a second on average, and so is its lane', () => {
  const job = {
    kind: 'attempt',
    accountId: 'acct',
    messageId: 'msg_1',
    attempt: 0,
    queue: 'short',
    admittedTo: { lane: 'queue', name: 'exports', ticket: '1', sentAt: 0 },
  } as const;
  const isSlow = (host: string | undefined): boolean => lambdas.slowNameOf({ ...job, host }) !== undefined;
  expect([isSlow('render.example'), isSlow(undefined)]).toEqual([false, false]);
  lambdas.noteTime(job, 'https://render.example/films', 7_900);
  expect([isSlow('render.example'), isSlow(undefined)]).toEqual([false, false]);
  lambdas.noteTime(job, 'https://render.example/films', 8_000);
  expect([isSlow('render.example'), isSlow(undefined), isSlow('other.example')]).toEqual([true, true, false]);
  for (let made = 0; made < 6; made += 1) lambdas.noteTime(job, 'https://render.example/films', 20);
  expect(isSlow('render.example')).toBe(false);
});

it('A slow job is moved to the queue of slow jobs, in a group of its account and host', async () => {
  await lambdas.sendSlow('{"job":1}', 'acct', 'arn:aws:lambda:eu-central-1:111122223333:function:films');
  const [sent] = await queuesOf().receive('slow', { max: 1, waitMs: 0, signal: AbortSignal.timeout(60_000) });
  expect(sent).toMatchObject({ body: '{"job":1}', groupId: 'acct:eu-central-1:111122223333:films' });
});
