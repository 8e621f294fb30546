/** The batch size of deliver's invocations. */
import { deliveryConcurrency, queues } from '../../lambdas/aws/resources.ts';

/** The pollers of a queue with a maximum concurrency ("Configuring scaling behavior for SQS event source mappings"). */
const pollers = 5;
/**
 * The receive calls of a poller per second. AWS documents no figure: a call to SQS takes about 10 ms, and
 * starting an invocation a little more.
 */
const receivesPerSecond = 20;

/**
 * The size of batches. Messages form batches only if they arrive faster than the pollers receive, 100 times a
 * second. With a batching window, each poller collects its share for that time.
 *
 * @param windowSeconds `batchingWindow`
 * @returns 1 to 10
 */
export function batchAt(perSecond: number, windowSeconds = 0): number {
  const atOnce = perSecond / (pollers * receivesPerSecond);
  const gathered = (perSecond * windowSeconds) / pollers;
  return Math.min(queues.short.batchSize, Math.max(1, Math.floor(Math.max(atOnce, gathered))));
}

export const batchRule = `Derived from the average rate: ${pollers} pollers receive ${receivesPerSecond} times a second each, and take what is there; what comes while all ${deliveryConcurrency} executions of a queue wait is taken together.`;
