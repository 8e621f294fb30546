/**
 * A token bucket limits a rate. It fills at that rate and holds the tokens of one second. Its level may go below zero: then
 * nothing can be taken until the debt is paid.
 */
import { secondMs } from '../../shared/clock.ts';

export interface TokenBucket {
  readonly level: number;
  readonly at: number;
}

export interface Taken {
  readonly bucket: TokenBucket;
  readonly isTaken: boolean;
  readonly left: number;
  /** When more tokens can be taken. */
  readonly moreAt: number;
}

/**
 * Takes tokens from a bucket.
 *
 * @param bucket undefined for a full one
 * @param perSecond the rate, and the capacity of the bucket
 * @param least the level that is required: the amount itself, or less if an amount may exceed the capacity
 */
export function takeTokens(
  bucket: TokenBucket | undefined,
  amount: number,
  perSecond: number,
  least: number,
  now: number,
): Taken {
  const holds = Math.max(perSecond, least);
  // If the clock has stepped back, nothing is added.
  const added = bucket === undefined ? holds : (Math.max(0, now - bucket.at) / secondMs) * perSecond;
  const filled = Math.min(holds, (bucket?.level ?? 0) + added);
  const isTaken = filled >= least;
  const level = isTaken ? filled - amount : filled;
  const moreAt = level >= least ? now : now + ((least - level) / perSecond) * secondMs;
  return { bucket: { level, at: now }, isTaken, left: Math.max(0, Math.floor(level)), moreAt };
}
