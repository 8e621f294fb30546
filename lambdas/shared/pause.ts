/** Waits of a process between two calls of AWS, and the turns of long work. A test that moves the clock by itself puts jumps of the clock in the place of waits. */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { now } from './clock.ts';

/** Waits so many milliseconds. */
export const pause = (ms: number): Promise<void> => setTimeout(ms);

/**
 * Waits until the clock has come to a moment, Unix milliseconds. A timer may end a moment before the clock says so, and then
 * waits for the rest.
 */
export async function waitUntil(dueAt: number): Promise<void> {
  for (let leftMs = dueAt - now(); leftMs > 0; leftMs = dueAt - now()) await pause(leftMs);
}

/** The longest that work goes on before it lets other requests of the process go on, in milliseconds. */
const turnMs = 10;
/** The longest pause between two turns, in milliseconds. */
const longestPauseMs = 100;

/**
 * The turns of long work that waits for nothing. On Lambda a process has one request, and turns cost nothing; on one machine all
 * requests share a process.
 */
export class Turn {
  #endsAt = performance.now() + turnMs;

  /**
   * Lets others go on where the turn is over. Where they took their time, it leaves them as much once more: long work of several
   * requests together then takes half of the process.
   */
  async end(): Promise<void> {
    const since = performance.now();
    if (since < this.#endsAt) return;
    await setImmediate();
    const tookMs = performance.now() - since;
    if (tookMs > 1) await setTimeout(Math.min(tookMs, longestPauseMs));
    this.#endsAt = performance.now() + turnMs;
  }
}
