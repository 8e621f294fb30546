import { setTimeout } from 'node:timers/promises';
import { now } from '../shared/clock.ts';
import { HttpError } from '../error/httpError.ts';

/** A change is tried again for so long: a request to the API ends after 29 s, and the last try takes time too. */
const memoryTimeoutMs = 15_000;
/** The longest pause before the next try. Its length is random, so that two requests do not meet again and again. */
const longestPauseMs = 200;

/**
 * Changes a row that others may change at the same time: reads it, writes on the condition that it is as it was read, and
 * begins again where that condition failed.
 *
 * @param refusal the sentence of the 503
 * @param attempt reads and writes once; gives undefined when the condition failed
 * @returns the result of the first attempt that succeeded
 * @throws HttpError 503 when others were faster for 15 s
 */
export async function retryOnConflict<T>(refusal: string, attempt: () => Promise<T | undefined>): Promise<T> {
  const until = now() + memoryTimeoutMs;
  do {
    const outcome = await attempt();
    if (outcome !== undefined) return outcome;
    await setTimeout(Math.random() * longestPauseMs);
  } while (now() < until);
  throw new HttpError(503, 'busy', refusal);
}
