/** The messages that an invocation of deliver gets. */
import { deliveryConcurrency, queues } from '../../lambdas/aws/resources.ts';

/**
 * The pollers of a queue with a maximum concurrency: "Configuring scaling behavior for SQS event source mappings" says that
 * Lambda begins with five batches at a time.
 */
const pollers = 5;
/**
 * Receives of one poller in a second, each of which takes what is there: a call of SQS takes some 10 ms, and an invocation has to
 * be begun. AWS documents no figure for it.
 */
const receivesPerSecond = 20;

/**
 * A poller that has room takes what is in the queue at once, so messages gather only where they come faster than the pollers
 * receive: 100 times a second. With a batching window each poller gathers its part of the messages for so long.
 *
 * @param perSecond messages in a second
 * @param windowSeconds `batchingWindow`
 * @returns 1 to 10
 */
export function batchAt(perSecond: number, windowSeconds = 0): number {
  const atOnce = perSecond / (pollers * receivesPerSecond);
  const gathered = (perSecond * windowSeconds) / pollers;
  return Math.min(queues.short.batchSize, Math.max(1, Math.floor(Math.max(atOnce, gathered))));
}

/** The sentence for it, in what is printed. */
export const batchRule = `Derived from the average rate: ${pollers} pollers receive ${receivesPerSecond} times a second each, and take what is there; what comes while all ${deliveryConcurrency} executions of a queue wait is taken together.`;
