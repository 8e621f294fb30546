import { setTimeout } from 'node:timers/promises';
import { now, secondMs } from '../shared/clock.ts';
import { HttpError } from '../error/httpError.ts';

/** An API function is ended after 28 s, and the last try takes time, too. */
const retryForMs = 15_000;
/** Pauses are random, so that two requests do not collide again and again. */
const longestPauseMs = 200;

/**
 * Changes a row that others may change at the same time: reads it, and writes it if it has not changed since.
 *
 * @param refusal the sentence of the 503
 * @param attempt reads and writes once; returns undefined if the condition failed
 * @throws HttpError 503 if others were faster for 15 s
 */
export async function retryOnConflict<T>(refusal: string, attempt: () => Promise<T | undefined>): Promise<T> {
  const until = now() + retryForMs;
  do {
    const outcome = await attempt();
    if (outcome !== undefined) return outcome;
    await setTimeout(Math.random() * longestPauseMs);
  } while (now() < until);
  throw new HttpError(503, 'busy', refusal);
}

/**
 * Returns a random pause (ms) before the next try to change a row with many writers. It is at most as long as a read and a write at first. This maximum doubles with each try, to `mostTurns` times and 1 s.
 *
 * @param tries how many were made
 * @param writeMs how long the refused write took
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
