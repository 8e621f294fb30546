/** CPU time of the bundled handlers per message. Lambda functions with little memory get little CPU. */
import { chunksOf } from '../lambdas/shared/lists.ts';
import { bundleUrl, startInvoker, type Invoker } from './child.ts';
import { jsonBody, queueEvent } from './events.ts';
import { median } from './figures.ts';
import type { Fixture } from './fixture.ts';

/** The functions that every message passes. */
export const onTheWay = ['publish', 'deliver'] as const;
export type OnTheWay = (typeof onTheWay)[number];

export interface CpuTime {
  readonly handler: OnTheWay;
  /** Milliseconds in user and system mode, per message, for the first messages of a process. */
  readonly firstMs: number;
  /** The same for a warm process: the median round, and the best. */
  readonly medianMs: number;
  readonly leastMs: number;
  readonly logBytes: number;
}

/** Messages per batch of deliver, as under load. */
export const batchSize = 10;

/** Messages until the code is warm. The first hundreds take over twice the CPU time of those after 3,000. */
export const warmUpMessages = 3_000;
/** The first messages of a process, as in a new Lambda environment. */
export const firstMessages = 400;

const rounds = 5;
const messagesInRound = 300;
const allMessages = warmUpMessages + rounds * messagesInRound;

/** Publishes messages one by one in one process, and delivers them in batches of ten in another. */
export async function measureCpu(fixture: Fixture): Promise<readonly CpuTime[]> {
  const [publish, deliver] = [startInvoker(bundleUrl('publish')), startInvoker(bundleUrl('deliver'))];
  const first = await passThrough(fixture, publish, deliver, firstMessages);
  await passThrough(fixture, publish, deliver, warmUpMessages - firstMessages);
  const times: Record<OnTheWay, number>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    times.push(await passThrough(fixture, publish, deliver, messagesInRound));
  }
  const timeOf = async (handler: OnTheWay, invoker: Invoker): Promise<CpuTime> => {
    const ofHandler = times.map((time) => time[handler]);
    return {
      handler,
      firstMs: first[handler],
      medianMs: median(ofHandler),
      leastMs: Math.min(...ofHandler),
      logBytes: (await invoker.end()) / allMessages,
    };
  };
  return [await timeOf('publish', publish), await timeOf('deliver', deliver)];
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
  publish: Invoker,
  deliver: Invoker,
  messages: number,
): Promise<Record<OnTheWay, number>> {
  const sums = { publish: 0, deliver: 0 };
  const times = messages / messagesAtOnce;
  for (let time = 0; time < times; time += 1) {
    const cpuMs = await passSome(fixture, publish, deliver, messagesAtOnce);
    sums.publish += cpuMs.publish / times;
    sums.deliver += cpuMs.deliver / times;
  }
  return sums;
}

async function passSome(
  fixture: Fixture,
  publish: Invoker,
  deliver: Invoker,
  messages: number,
): Promise<Record<OnTheWay, number>> {
  const requests = Array.from({ length: messages }, () => fixture.eventFor(jsonBody));
  const publishMs = await publish.invoke(requests);
  const attempts = await fixture.takeAttempts(messages);
  const batches = chunksOf(attempts, batchSize).map(queueEvent);
  return { publish: publishMs / messages, deliver: (await deliver.invoke(batches)) / messages };
}

/** Measures the line that publish logs for a request to the publish URL. Through the API it logs none. */
export async function measureUrlLogBytes(fixture: Fixture): Promise<number> {
  const invoker = startInvoker(bundleUrl('publish'));
  await invoker.invoke(Array.from({ length: batchSize }, () => fixture.urlEventFor(jsonBody)));
  await fixture.takeAttempts(batchSize);
  return (await invoker.end()) / batchSize;
}
