import { setTimeout } from 'node:timers/promises';
import { now } from '../domain/clock.ts';
import { HttpError } from '../domain/httpError.ts';

/** How long a change is made anew on the outcomes of others; a request to the API ends after 29 s. */
const patienceMs = 15_000;
/** How long, at most, it lets others go first. */
const longestWaitMs = 200;

/**
 * Makes a change of a row that others may change meanwhile.
 *
 * @param thing what the error's text calls it
 * @param attempt reads and writes; undefined when somebody else wrote between
 * @returns what the attempt gave that was the first to succeed
 * @throws HttpError 503 when others are always faster
 */
export async function changing<T>(thing: string, attempt: () => Promise<T | undefined>): Promise<T> {
  const until = now() + patienceMs;
  while (now() < until) {
    const outcome = await attempt();
    if (outcome !== undefined) return outcome;
    await setTimeout(Math.random() * longestWaitMs);
  }
  throw new HttpError(503, `${thing} is being changed by many at once; send the change again.`);
}
