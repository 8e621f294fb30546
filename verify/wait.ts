/** Waiting, which a cancelled run ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Shortfall } from './check.ts';

export interface Timeout {
  /** The longest wait for what comes at once when all is well. */
  readonly waitMs: number;
  /** Ends every wait. */
  readonly signal: AbortSignal;
  /** Milliseconds between two looks; absent for a second. */
  readonly everyMs?: number;
}

/**
 * Looks until something is there.
 *
 * @param look returns undefined until then
 * @param otherwise what to say when it does not come in time
 * @throws Shortfall when it does not come
 */
export async function until<T>(
  look: () => Promise<T | undefined>,
  otherwise: () => string,
  { waitMs, signal, everyMs = 1_000 }: Timeout,
): Promise<T> {
  const end = Date.now() + waitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() >= end)
      throw new Shortfall(`${otherwise()} That was after ${Math.round(waitMs / 1_000)} s.`);
    await sleep(everyMs, undefined, { signal });
  }
}
