/**
 * CPU time of the bundled handlers per message, and the bytes of their logs. Lambda functions with little memory get little
 * CPU.
 */
import { chunksOf } from '../lambdas/shared/lists.ts';
import { assumed, durationMs, memoryOfOneCpuMb, runningDollars } from '../verify/prices/estimate.ts';
import { startInvoker, type Invoker } from './child.ts';
import { jsonBody, queueEvent } from './events.ts';
import { median } from './figures.ts';
import type { Fixture } from './fixture.ts';
import { dollars, printTable, verdict } from './table.ts';

/** The functions that handle every message. */
export const onTheWay = ['publish', 'deliver'] as const;
export type OnTheWay = (typeof onTheWay)[number];

/** Milliseconds for a message. */
const goalMs = 1;

const batchSize = 10;

/** Messages until the code is warm. The first hundreds take over twice the CPU time of those after 3,000. */
const warmUpMessages = 3_000;
/** The first messages of a process, as in a new Lambda environment. */
const firstMessages = 400;

const rounds = 5;
const messagesInRound = 300;
const allMessages = warmUpMessages + rounds * messagesInRound;

/** CPU grows with memory, up to a whole CPU at the last of these sizes. */
const memorySizesMb = [256, 512, 1_024, memoryOfOneCpuMb];

/** The share by which a measured size of the log may differ from the assumed one. */
const tolerance = 0.1;

type PerHandler<Value> = Readonly<Record<OnTheWay, Value>>;

/**
 * Publishes messages one by one in one process, delivers them in batches of ten in another, and prints the CPU times, and the
 * cost and duration at several memory sizes.
 *
 * @returns the assumptions of the bill that differ from the measured sizes, as sentences
 */
export async function printCpu(fixture: Fixture): Promise<readonly string[]> {
  const invokers = { publish: await startInvoker('publish'), deliver: await startInvoker('deliver') };
  const first = await passThrough(fixture, invokers, firstMessages);
  await passThrough(fixture, invokers, warmUpMessages - firstMessages);
  const times: PerHandler<number>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    times.push(await passThrough(fixture, invokers, messagesInRound));
  }
  const timesOf = (handler: OnTheWay): readonly number[] => times.map((time) => time[handler]);
  printTable(
    `CPU milliseconds for a message: the first ${firstMessages} of a process, then warm; deliver in batches of 10`,
    onTheWay,
    [
      ['bundle', (handler) => handler],
      ['first', (handler) => first[handler].toFixed(2)],
      ['median', (handler) => median(timesOf(handler)).toFixed(2)],
      ['least', (handler) => Math.min(...timesOf(handler)).toFixed(2)],
      ['goal', () => goalMs.toFixed(2)],
      ['verdict', (handler) => verdict(median(timesOf(handler)), goalMs)],
    ],
  );
  printMemory({ publish: median(timesOf('publish')), deliver: median(timesOf('deliver')) });
  return wrongAssumptions({
    publish: (await invokers.publish.end()) / allMessages,
    deliver: (await invokers.deliver.end()) / allMessages,
    'the publish URL': await measureUrlLogBytes(fixture),
  });
}

function printMemory(cpuMs: PerHandler<number>): void {
  const costs = memorySizesMb.map((memoryMb) => {
    const publish = { of: 'publish', messages: 1, memoryMb, cpuMs: cpuMs.publish } as const;
    const { destinationMs } = assumed;
    const deliver = {
      ...publish,
      of: 'deliver',
      messages: batchSize,
      destinationMs,
      cpuMs: cpuMs.deliver,
    } as const;
    return {
      memoryMb,
      publishMs: durationMs(publish),
      /** The duration of a warm invocation with a batch of ten, including the destination's time. */
      deliverMs: durationMs(deliver),
      perMillion: runningDollars(publish) + runningDollars(deliver) / batchSize,
    };
  });
  printTable('Running times by memory, computed from the CPU times; deliver in batches of 10', costs, [
    ['memory', ({ memoryMb }) => `${memoryMb} MB`],
    ['publish ms', ({ publishMs }) => publishMs.toFixed(1)],
    ['deliver ms', ({ deliverMs }) => deliverMs.toFixed(0)],
    ['$', ({ perMillion }) => dollars(perMillion)],
  ]);
}

function wrongAssumptions(
  measured: Readonly<Record<OnTheWay | 'the publish URL', number>>,
): readonly string[] {
  const { publish, urlRequest, attempt, deliverMetrics, deliverTimes } = assumed.logBytes;
  const expected = [
    ['publish', publish],
    ['deliver', attempt + deliverTimes + deliverMetrics / batchSize],
    ['the publish URL', publish + urlRequest],
  ] as const;
  return expected
    .filter(([name, bytes]) => Math.abs(measured[name] / bytes - 1) > tolerance)
    .map(
      ([name, bytes]) =>
        `The log of ${name} takes ${measured[name].toFixed(0)} bytes a message; the bill assumes ${bytes.toFixed(0)}.`,
    );
}

/** Messages per task of a process. Many thousands would fill its memory, and measure the garbage collector. */
const messagesAtOnce = 100;

/**
 * Publishes messages in one process, and delivers them in another.
 *
 * @param messages a multiple of a hundred
 * @returns each process's CPU milliseconds per message
 */
async function passThrough(
  fixture: Fixture,
  { publish, deliver }: PerHandler<Invoker>,
  messages: number,
): Promise<PerHandler<number>> {
  const sums = { publish: 0, deliver: 0 };
  for (let passed = 0; passed < messages; passed += messagesAtOnce) {
    const requests = Array.from({ length: messagesAtOnce }, () => fixture.eventFor(jsonBody));
    sums.publish += await publish.invoke(requests);
    const attempts = await fixture.takeAttempts(messagesAtOnce);
    sums.deliver += await deliver.invoke(chunksOf(attempts, batchSize).map(queueEvent));
  }
  return { publish: sums.publish / messages, deliver: sums.deliver / messages };
}

/** Measures the line that publish logs for a request to the publish URL. Through the API it logs none. */
async function measureUrlLogBytes(fixture: Fixture): Promise<number> {
  const invoker = await startInvoker('publish');
  await invoker.invoke(Array.from({ length: batchSize }, () => fixture.urlEventFor(jsonBody)));
  await fixture.takeAttempts(batchSize);
  return (await invoker.end()) / batchSize;
}
