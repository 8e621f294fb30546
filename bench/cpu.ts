/** CPU time of the bundled handlers for each message. A Lambda function with little memory has little CPU, too. */
import { bundleUrl, compileChild, runChild } from './child.ts';
import { invokeResult } from './children/protocol.ts';
import { jsonBody, queueEvent } from './events.ts';
import { median } from './median.ts';
import type { World } from './world.ts';

export interface CpuTime {
  readonly handler: 'publish' | 'deliver';
  /** Milliseconds in user and system mode for each message: the median of the rounds, and the best of them. */
  readonly medianMs: number;
  readonly leastMs: number;
  /** The size of the log's lines, for each message. */
  readonly logBytes: number;
}

const batchSize = 10;
const warmUpMessages = 500;
const rounds = 5;
const messagesInRound = 300;
const allMessages = warmUpMessages + rounds * messagesInRound;

/** Publishes messages in one process, one by one, and delivers the same messages in another, in batches of ten. */
export async function measureCpu(world: World): Promise<readonly CpuTime[]> {
  const program = compileChild('invoke');
  const publishEvents = Array.from({ length: allMessages }, () => world.eventFor(jsonBody));
  const publish = await measure(program, 'publish', publishEvents, 1);

  const attempts = await world.takeAttempts(allMessages);
  const deliverEvents = Array.from({ length: allMessages / batchSize }, (_, index) =>
    queueEvent(attempts.slice(index * batchSize, (index + 1) * batchSize)),
  );
  return [publish, await measure(program, 'deliver', deliverEvents, batchSize)];
}

/** Measures the size of the line that publish logs for a request to the publish URL. Through the API it logs none. */
export async function measureUrlLogBytes(world: World): Promise<number> {
  const warmUp = Array.from({ length: batchSize }, () => world.urlEventFor(jsonBody));
  const task = { bundle: bundleUrl('publish'), warmUp, rounds: [] };
  const { outputBytes } = await runChild(compileChild('invoke'), task, invokeResult);
  await world.takeAttempts(batchSize);
  return outputBytes / batchSize;
}

async function measure(
  program: string,
  handler: CpuTime['handler'],
  events: readonly object[],
  messagesInEvent: number,
): Promise<CpuTime> {
  const inWarmUp = warmUpMessages / messagesInEvent;
  const inRound = messagesInRound / messagesInEvent;
  const task = {
    bundle: bundleUrl(handler),
    warmUp: events.slice(0, inWarmUp),
    rounds: Array.from({ length: rounds }, (_, round) =>
      events.slice(inWarmUp + round * inRound, inWarmUp + (round + 1) * inRound),
    ),
  };
  const { result, outputBytes } = await runChild(program, task, invokeResult);
  const perMessage = result.roundsCpuMs.map((cpuMs) => cpuMs / messagesInRound);
  return {
    handler,
    medianMs: median(perMessage),
    leastMs: Math.min(...perMessage),
    logBytes: outputBytes / allMessages,
  };
}
