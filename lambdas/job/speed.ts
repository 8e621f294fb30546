/** The speed of a destination, as one process has seen it. */
import { hourMs, secondMs } from '../shared/clock.ts';

export interface Speed {
  /** The average time of an attempt, in which the latest weigh most. */
  readonly averageMs: number;
  /** When the latest attempt was noted, Unix milliseconds. */
  readonly notedAt: number;
}

/** The weight of the latest attempt in the average. A host that takes 30 s for one answer in twenty is slow most of the time. */
const weight = 1 / 8;
/** Answers that take longer than this on average are slow. */
const slowMs = secondMs;
/**
 * What is known about a slow destination holds for this long. Then it is tried again beside quick ones, because attempts that another
 * process makes say nothing here.
 */
const knownForMs = hourMs;

export function afterAttempt(before: Speed | undefined, ms: number, now: number): Speed {
  const averageMs = before?.averageMs ?? 0;
  return { averageMs: averageMs + (ms - averageMs) * weight, notedAt: now };
}

export const isSlow = (speed: Speed | undefined, now: number): boolean =>
  speed !== undefined && speed.averageMs > slowMs && now - speed.notedAt < knownForMs;
