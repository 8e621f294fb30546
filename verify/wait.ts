import { setTimeout as sleep } from 'node:timers/promises';
import { Shortfall } from './check.ts';

export interface Timeout {
  /** The longest wait for something that normally happens at once. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** The pause between looks, in milliseconds. Default: 1,000. */
  readonly everyMs?: number;
}

/**
 * Looks until something is there.
 *
 * @param look returns undefined or false until then
 * @param otherwise the error message
 * @throws Shortfall on a timeout
 */
export async function until<T>(
  look: () => Promise<T | false | undefined>,
  otherwise: () => string,
  { waitMs, signal, everyMs = 1_000 }: Timeout,
): Promise<T> {
  const end = Date.now() + waitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() >= end)
      throw new Shortfall(`${otherwise()} That was after ${Math.round(waitMs / 1_000)} s.`);
    await sleep(everyMs, undefined, { signal });
  }
}
