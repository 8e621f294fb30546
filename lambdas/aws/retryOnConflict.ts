import { setTimeout } from 'node:timers/promises';
import { now, secondMs } from '../shared/clock.ts';
import { HttpError } from '../error/httpError.ts';

/** The time for which a change is tried again: a request to the API ends after 29 s, and the last try takes time too. */
const memoryTimeoutMs = 15_000;
/** The longest pause before the next try. Its length is random, so that two requests do not meet again and again. */
const longestPauseMs = 200;

/**
 * Changes a row that others may change at the same time: reads it, writes it on condition that it has not changed since, and
 * begins again when that condition failed.
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

/**
 * The pause (ms) before the next try to change a row that many write. It doubles up to `mostTurns` times what a read and a write
 * take: so that about as many others get a turn, whether the table is fast or slow.
 *
 * @param tries that were made before this one
 * @param writeMs the time that the refused write took
 */
export function pauseAmongMany(
  tries: number,
  writeMs: number,
  mostTurns: number,
  random = Math.random,
): number {
  const turnMs = 2 * Math.max(1, writeMs);
  return Math.ceil(random() * Math.min(secondMs, turnMs * Math.min(mostTurns, 2 ** tries)));
}
