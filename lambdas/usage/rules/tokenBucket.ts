/**
 * A token bucket limits a rate. It fills at that rate and holds the tokens of one second. Its level may go below zero: then
 * nothing can be taken until the debt is paid.
 */
import { secondMs } from '../../shared/clock.ts';

export interface TokenBucket {
  readonly level: number;
  /** Unix milliseconds. */
  readonly at: number;
}

export interface Taken {
  readonly bucket: TokenBucket;
  readonly isTaken: boolean;
  readonly left: number;
  /** Unix milliseconds from which on more can be taken. */
  readonly moreAt: number;
}

/**
 * Takes tokens out of a bucket.
 *
 * @param bucket undefined for a full one
 * @param perSecond the rate, and the tokens that the bucket holds
 * @param least the level that is required: the amount itself, or less if an amount may be larger than the bucket
 * @param now Unix milliseconds
 */
export function takeTokens(
  bucket: TokenBucket | undefined,
  amount: number,
  perSecond: number,
  least: number,
  now: number,
): Taken {
  const holds = Math.max(perSecond, least);
  // A clock that has stepped back adds nothing.
  const added = bucket === undefined ? holds : (Math.max(0, now - bucket.at) / secondMs) * perSecond;
  const filled = Math.min(holds, (bucket?.level ?? 0) + added);
  const isTaken = filled >= least;
  const level = isTaken ? filled - amount : filled;
  const moreAt = level >= least ? now : now + ((least - level) / perSecond) * secondMs;
  return { bucket: { level, at: now }, isTaken, left: Math.max(0, Math.floor(level)), moreAt };
}
