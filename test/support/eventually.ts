import { setTimeout } from 'node:timers/promises';
import { limitForHangsMs } from './limits.ts';

/** A read of a list costs the service more than this delay costs the test. */
const shortestWaitMs = 100;
const longestWaitMs = 500;

/**
 * Reads until a condition is true, for states without an event, such as lists that lag behind.
 *
 * @throws on a timeout, with the last value
 */
export async function eventually<T>(read: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  const until = Date.now() + limitForHangsMs;
  for (let waitMs = shortestWaitMs; ; waitMs = Math.min(1.5 * waitMs, longestWaitMs)) {
    const value = await read();
    if (holds(value)) return value;
    if (Date.now() > until) {
      throw new Error(
        `It did not hold within ${limitForHangsMs} ms: ${JSON.stringify(value).slice(0, 2_000)}`,
      );
    }
    await setTimeout(waitMs);
  }
}
