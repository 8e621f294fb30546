/** How fast a destination answers, as this process has seen it. */
import { hourMs, secondMs } from '../shared/clock.ts';

export interface Speed {
  /** The average duration of attempts. Recent ones have more weight. */
  readonly averageMs: number;
  readonly notedAt: number;
}

/**
 * The weight of the latest attempt. A host that takes 30 s for one answer in twenty counts as slow most of
 * the time.
 */
const weight = 1 / 8;
/** A destination with a higher average is slow. */
const slowMs = secondMs;
/** How long a destination counts as slow. Then it is tried again together with fast ones. */
const knownForMs = hourMs;

export function afterAttempt(before: Speed | undefined, ms: number, now: number): Speed {
  const averageMs = before?.averageMs ?? 0;
  return { averageMs: averageMs + (ms - averageMs) * weight, notedAt: now };
}

export const isSlow = (speed: Speed | undefined, now: number): boolean =>
  speed !== undefined && speed.averageMs > slowMs && now - speed.notedAt < knownForMs;
