/** A destination's speed, as one process has seen it. */
import { hourMs, secondMs } from '../shared/clock.ts';

export interface Speed {
  /** Weighted: recent attempts count most. */
  readonly averageMs: number;
  /** Unix milliseconds. */
  readonly notedAt: number;
}

/** The latest attempt's weight. A host that takes 30 s for one answer in twenty is slow most of the time. */
const weight = 1 / 8;
/** A destination with a higher average is slow. */
const slowMs = secondMs;
/** How long a destination counts as slow. Then it is tried again beside quick ones. */
const knownForMs = hourMs;

export function afterAttempt(before: Speed | undefined, ms: number, now: number): Speed {
  const averageMs = before?.averageMs ?? 0;
  return { averageMs: averageMs + (ms - averageMs) * weight, notedAt: now };
}

export const isSlow = (speed: Speed | undefined, now: number): boolean =>
  speed !== undefined && speed.averageMs > slowMs && now - speed.notedAt < knownForMs;
