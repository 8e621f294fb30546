import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { BenchError } from '../benchError.ts';
import { median } from '../figures.ts';
import type { Destination } from './destination.ts';
import { cpuMsOf } from './processCpu.ts';
import type { Contender } from './contender.ts';

function publish({ publishUrl, headers, bodyOf }: Contender, agent: Agent, event: string): Promise<void> {
  const body = bodyOf(event);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      publishUrl,
      {
        method: 'POST',
        agent,
        headers: { ...headers, 'content-type': 'application/json', 'content-length': body.length },
      },
      (answer) => {
        const { statusCode = 0 } = answer;
        answer.resume().once('end', () => {
          if (statusCode >= 200 && statusCode < 300) resolve();
          else reject(new BenchError(`A message was answered with ${statusCode}.`));
        });
      },
    );
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

export interface Measured {
  readonly messages: number;
  /** From the first request to the last arrival. */
  readonly perSecond: number;
  /** The share of messages that had been accepted but not delivered when the last was published. */
  readonly backlog: number;
  readonly arrivalMs: number;
  /** Per message; undefined if it cannot be measured. */
  readonly cpuMs: number | undefined;
}

export interface Load {
  readonly atOnce: number;
  /** Whether a publisher waits for each message's arrival. If not, it waits for its acceptance. */
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
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const cpuBefore = cpuMsOf(contender.pids);
  const start = performance.now();
  const latencies: Promise<number>[] = [];
  let arrived = 0;
  const over = new AbortController();
  const publisher = async (): Promise<void> => {
    while (!over.signal.aborted && goesOn(latencies.length, performance.now() - start)) {
      const { event, arrival } = destination.expect();
      const sentAt = performance.now();
      const latency = arrival.then((at) => {
        arrived += 1;
        return at - sentAt;
      });
      latencies.push(latency);
      await publish(contender, agent, event);
      if (waitsForArrival) await arrival;
    }
  };
  const late = setTimeout(limitMs, undefined, { signal: over.signal }).then((): never => {
    const lost = latencies.length - arrived;
    throw new BenchError(`${lost} messages did not arrive. It waited ${limitMs / 1_000} s.`);
  });
  late.catch(() => undefined);
  try {
    await Promise.race([Promise.all(Array.from({ length: atOnce }, publisher)), late]);
    const messages = latencies.length;
    const backlog = (messages - arrived) / messages;
    const all = await Promise.race([Promise.all(latencies), late]);
    const tookMs = performance.now() - start;
    const cpuAfter = cpuMsOf(contender.pids);
    return {
      messages,
      perSecond: (1_000 * messages) / tookMs,
      backlog,
      arrivalMs: median(all.length % 2 === 0 ? all.slice(1) : all),
      cpuMs:
        cpuBefore === undefined || cpuAfter === undefined ? undefined : (cpuAfter - cpuBefore) / messages,
    };
  } finally {
    over.abort();
    agent.destroy();
  }
}
