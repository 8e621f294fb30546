/** CPU time of the bundled handlers for each message. A Lambda function with little memory has little CPU, too. */
import { bundleUrl, startInvoker } from './child.ts';
import { jsonBody, queueEvent } from './events.ts';
import { median } from './median.ts';
import type { World } from './world.ts';

/** The functions that every message passes. */
export const onTheWay = ['publish', 'deliver'] as const;
export type OnTheWay = (typeof onTheWay)[number];

export interface CpuTime {
  readonly handler: OnTheWay;
  /** Milliseconds in user and system mode for each message: the median of the rounds, and the best of them. */
  readonly medianMs: number;
  readonly leastMs: number;
  /** The size of the log's lines, for each message. */
  readonly logBytes: number;
}

/** Deliver gets messages in batches of ten, as it does under load. */
export const batchSize = 10;

/** Messages for one process: those until its code is warm, and then those of each round. */
export interface Rounds {
  readonly warmUpMessages: number;
  readonly rounds: number;
  readonly messagesInRound: number;
}

const ownRounds: Rounds = { warmUpMessages: 500, rounds: 5, messagesInRound: 300 };

export const allMessages = ({ warmUpMessages, rounds, messagesInRound }: Rounds): number =>
  warmUpMessages + rounds * messagesInRound;

/** The events of so many requests to publish. */
export const publishEvents = (world: World, messages: number): readonly object[] =>
  Array.from({ length: messages }, () => world.eventFor(jsonBody));

/** The events that deliver gets for the attempts of so many messages, which have been published. */
export async function deliverEvents(world: World, messages: number): Promise<readonly object[]> {
  const attempts = await world.takeAttempts(messages);
  return Array.from({ length: messages / batchSize }, (_, index) =>
    queueEvent(attempts.slice(index * batchSize, (index + 1) * batchSize)),
  );
}

/** Publishes messages in one process, one by one, and delivers the same messages in another, in batches of ten. */
export async function measureCpu(world: World): Promise<readonly CpuTime[]> {
  const messages = allMessages(ownRounds);
  const publish = await measureHandler('publish', publishEvents(world, messages));
  return [publish, await measureHandler('deliver', await deliverEvents(world, messages))];
}

async function measureHandler(handler: OnTheWay, events: readonly object[]): Promise<CpuTime> {
  const { roundsMs, outputBytes } = await measureProcess(bundleUrl(handler), events, ownRounds);
  return {
    handler,
    medianMs: median(roundsMs),
    leastMs: Math.min(...roundsMs),
    logBytes: outputBytes / allMessages(ownRounds),
  };
}

/**
 * Has a process of its own handle events.
 *
 * @returns the CPU milliseconds of each round for a message, and the bytes of the log
 */
export async function measureProcess(
  bundle: string,
  events: readonly object[],
  counts: Rounds,
): Promise<{ readonly roundsMs: readonly number[]; readonly outputBytes: number }> {
  const messagesInEvent = allMessages(counts) / events.length;
  const inWarmUp = counts.warmUpMessages / messagesInEvent;
  const inRound = counts.messagesInRound / messagesInEvent;
  const invoker = startInvoker(bundle);
  await invoker.invoke(events.slice(0, inWarmUp));
  const roundsMs: number[] = [];
  for (let at = inWarmUp; at < events.length; at += inRound) {
    roundsMs.push((await invoker.invoke(events.slice(at, at + inRound))) / counts.messagesInRound);
  }
  return { roundsMs, outputBytes: await invoker.end() };
}

/** Measures the size of the line that publish logs for a request to the publish URL. Through the API it logs none. */
export async function measureUrlLogBytes(world: World): Promise<number> {
  const invoker = startInvoker(bundleUrl('publish'));
  await invoker.invoke(Array.from({ length: batchSize }, () => world.urlEventFor(jsonBody)));
  await world.takeAttempts(batchSize);
  return (await invoker.end()) / batchSize;
}
