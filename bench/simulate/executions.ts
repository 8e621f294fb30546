/**
 * Simulates the delivery functions under full load, where one in twenty messages is slow. An execution takes as long as its
 * batch's slowest message. A process's knowledge of destinations is the service's own code.
 */
import { deliveryConcurrency, queues } from '../../lambdas/aws/resources.ts';
import { afterAttempt, isSlow, type Speed } from '../../lambdas/job/speed.ts';
import { secondMs } from '../../lambdas/shared/clock.ts';
import { randomFrom } from './scenario.ts';

interface Deliveries {
  readonly slowShare: number;
  readonly slowHosts: number;
  readonly slowMs: number;
  /** The duration of a batch of quick attempts, including the function's other work. */
  readonly quickMs: number;
  readonly seed: number;
}

export const oneInTwenty: Deliveries = {
  slowShare: 0.05,
  slowHosts: 5,
  slowMs: 30 * secondMs,
  quickMs: 167,
  seed: 1,
};

/** Long enough for each process to have called each slow host. */
const warmUpMs = 600 * secondMs;
const measuredMs = 600 * secondMs;

/** The messages per second that the deployment can carry with this share of slow messages. */
export function messagesPerSecond(given: Deliveries, isSeparate: boolean): number {
  const short = perSecond(given, isSeparate);
  if (!isSeparate || given.slowShare === 0) return short.done;
  // The quick queue passes slow messages on, which the slow queue must be able to deliver.
  const { batchSize } = queues.slow;
  const slowPerSecond = (deliveryConcurrency * batchSize) / ((given.slowMs + given.quickMs) / secondMs);
  return Math.min(
    short.done + short.handedOn,
    slowPerSecond / (short.handedOn / (short.done + short.handedOn)),
  );
}

/** Runs the function of the queue `short`, which never becomes empty. */
function perSecond(
  { slowShare, slowHosts, slowMs, quickMs, seed }: Deliveries,
  isSeparate: boolean,
): { readonly done: number; readonly handedOn: number } {
  const random = randomFrom(seed);
  const end = warmUpMs + measuredMs;
  let done = 0;
  let handedOn = 0;
  for (let execution = 0; execution < deliveryConcurrency; execution += 1) {
    const speeds = new Map<number, Speed>();
    for (let time = random() * quickMs; time < end;) {
      const batch = Array.from({ length: queues.short.batchSize }, () =>
        random() < slowShare ? Math.floor(random() * slowHosts) : undefined,
      );
      const isKnown = (host: number | undefined): boolean =>
        isSeparate && host !== undefined && isSlow(speeds.get(host), time);
      // If all messages are slow, they stay in their queue.
      const stay = batch.every(isKnown) ? batch : batch.filter((host) => !isKnown(host));
      const slow = stay.filter((host) => host !== undefined);
      time += slow.length > 0 ? slowMs + quickMs : quickMs;
      for (const host of slow) speeds.set(host, afterAttempt(speeds.get(host), slowMs, time));
      if (time < warmUpMs || time >= end) continue;
      done += stay.length;
      handedOn += batch.length - stay.length;
    }
  }
  const seconds = measuredMs / secondMs;
  return { done: done / seconds, handedOn: handedOn / seconds };
}
