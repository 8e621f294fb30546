import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { BenchError } from '../benchError.ts';
import { median } from '../figures.ts';
import type { Destination } from './destination.ts';
import { cpuMsOf } from './processCpu.ts';
import type { Contender } from './contender.ts';
import { Publisher } from './wire.ts';

export interface Measured {
  readonly messages: number;
  /** From the first request to the last arrival. */
  readonly perSecond: number;
  /** The share of messages that were accepted but not delivered when the last was published. */
  readonly backlog: number;
  readonly arrivalMs: number;
  /** Per message; undefined if it cannot be measured. */
  readonly cpuMs: number | undefined;
  /** CPU time of the load itself per message: of the publishers and the destination. */
  readonly loadCpuMs: number;
}

export interface Load {
  readonly atOnce: number;
  /**
   * Whether a publisher waits until its message has arrived. Otherwise it waits until the message is
   * accepted.
   */
  readonly waitsForArrival: boolean;
  readonly goesOn: (published: number, sinceMs: number) => boolean;
}

/** Milliseconds. After this time, undelivered messages count as lost. */
const limitMs = 180_000;

/**
 * Publishes messages, and waits until all have arrived.
 *
 * @throws BenchError if a message is not accepted or does not arrive
 */
export async function measureLoad(
  contender: Contender,
  destination: Destination,
  { atOnce, waitsForArrival, goesOn }: Load,
): Promise<Measured> {
  const { doors, bodyOf } = contender;
  const publishers = Array.from(
    { length: atOnce },
    (_, at) => new Publisher(doors[at % doors.length] ?? doors[0]),
  );
  const ownCpu = process.cpuUsage();
  const cpuBefore = cpuMsOf(contender.pids);
  const start = performance.now();
  const latencies: Promise<number>[] = [];
  let arrived = 0;
  const over = new AbortController();
  const publishWith = async (publisher: Publisher): Promise<void> => {
    while (!over.signal.aborted && goesOn(latencies.length, performance.now() - start)) {
      const { event, arrival } = destination.expect();
      const sentAt = performance.now();
      const latency = arrival.then((at) => {
        arrived += 1;
        return at - sentAt;
      });
      latencies.push(latency);
      await publisher.publish(bodyOf(event));
      if (waitsForArrival) await arrival;
    }
  };
  const late = setTimeout(limitMs, undefined, { signal: over.signal }).then((): never => {
    const lost = latencies.length - arrived;
    throw new BenchError(`${lost} messages did not arrive. It waited ${limitMs / 1_000} s.`);
  });
  late.catch(() => undefined);
  try {
    await Promise.race([Promise.all(publishers.map(publishWith)), late]);
    const messages = latencies.length;
    const backlog = (messages - arrived) / messages;
    const all = await Promise.race([Promise.all(latencies), late]);
    const tookMs = performance.now() - start;
    const cpuAfter = cpuMsOf(contender.pids);
    const { user, system } = process.cpuUsage(ownCpu);
    return {
      messages,
      perSecond: (1_000 * messages) / tookMs,
      backlog,
      arrivalMs: median(all.length % 2 === 0 ? all.slice(1) : all),
      cpuMs:
        cpuBefore === undefined || cpuAfter === undefined ? undefined : (cpuAfter - cpuBefore) / messages,
      loadCpuMs: (user + system) / 1_000 / messages,
    };
  } finally {
    over.abort();
    for (const publisher of publishers) publisher.close();
  }
}
