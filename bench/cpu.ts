/** CPU time of the bundled handlers for each message. A Lambda function with little memory has little CPU, too. */
import { chunksOf } from '../lambdas/shared/lists.ts';
import { bundleUrl, startInvoker, type Invoker } from './child.ts';
import { jsonBody, queueEvent } from './events.ts';
import { median } from './median.ts';
import type { Fixture } from './fixture.ts';

/** The functions that every message passes. */
export const onTheWay = ['publish', 'deliver'] as const;
export type OnTheWay = (typeof onTheWay)[number];

export interface CpuTime {
  readonly handler: OnTheWay;
  /** Milliseconds in user and system mode for each of the first messages of a process. */
  readonly firstMs: number;
  /** The same for each message of a warm process: the median of the rounds, and the best of them. */
  readonly medianMs: number;
  readonly leastMs: number;
  /** The size of the log's lines, for each message. */
  readonly logBytes: number;
}

/** Deliver gets messages in batches of ten, as it does under load. */
export const batchSize = 10;

/**
 * Messages until the code is warm. V8 compiles a function well when it has run often, so the first hundreds take more than
 * twice as much CPU; from some 3,000 on it is the code's own.
 */
export const warmUpMessages = 3_000;
/** The first messages of a process: what a Lambda environment that was just started has to do. */
export const firstMessages = 400;

const rounds = 5;
const messagesInRound = 300;
const allMessages = warmUpMessages + rounds * messagesInRound;

/** Publishes messages in one process, one by one, and delivers the same messages in another, in batches of ten. */
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

/** Messages that a process is sent at once. Many thousands would fill its memory, and its garbage collector would be measured. */
const messagesAtOnce = 100;

/**
 * Publishes messages in one process, and delivers the same messages in another.
 *
 * @param messages a multiple of a hundred
 * @returns the CPU milliseconds of each for a message
 */
export async function passThrough(
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

/** Measures the size of the line that publish logs for a request to the publish URL. Through the API it logs none. */
export async function measureUrlLogBytes(fixture: Fixture): Promise<number> {
  const invoker = startInvoker(bundleUrl('publish'));
  await invoker.invoke(Array.from({ length: batchSize }, () => fixture.urlEventFor(jsonBody)));
  await fixture.takeAttempts(batchSize);
  return (await invoker.end()) / batchSize;
}
