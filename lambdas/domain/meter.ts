/**
 * Counting what an account uses, without a write for each message. Each process counts in memory and adds to the common
 * count in steps, whose size follows from how exact the count has to be.
 */
import { dayMs, secondMs } from './clock.ts';

/** The day of a moment, UTC, as `2026-11-20`. */
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
/** Unix milliseconds at which the next day begins, UTC. */
export const nextDay = (time: number): number => (Math.floor(time / dayMs) + 1) * dayMs;
/** Unix milliseconds at which the next month begins, UTC. */
export const nextMonth = (time: number): number => {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
};

/** How far the common count may be off: by a hundred, or a hundredth of it. */
const leastSlack = 100;
const slackPart = 0.01;
/** Of the slack, so much may be on one process's conscience: each that ends takes what it has not added with it. */
const processPart = 1 / 16;
/** Of the slack, so much all processes together may hold back, each by its share of the traffic. */
const togetherPart = 1 / 2;

/**
 * How much a process may count before it adds to the common count.
 *
 * @param total the common count
 * @param room what is left of the limit: close to it every message counts
 * @param share the process's part of the traffic, 0 to 1
 * @param most what it grows to at most: half of what the process has counted, so that few messages are counted one by one
 */
export function stepOf(total: number, room: number, share: number, most: number): number {
  const slack = Math.min(Math.max(leastSlack, total * slackPart), room);
  return Math.max(1, Math.floor(Math.min(slack * processPart, slack * share * togetherPart, most)));
}

/**
 * How much a process adds ahead of what it has counted: half a step, so that what processes have not added when they end,
 * and what they have added too much, make up for each other.
 */
export const aheadOf = (step: number): number => Math.floor(step / 2);

/** What is taken out of it at a rate; it may run into debt once, and then has to be full again before more is taken. */
export interface Bucket {
  readonly level: number;
  /** Unix milliseconds. */
  readonly at: number;
}

export interface Taken {
  readonly bucket: Bucket;
  readonly isTaken: boolean;
  /** How much could be taken after this. */
  readonly left: number;
  /** Unix milliseconds from which on more can be taken. */
  readonly moreAt: number;
}

/**
 * Takes an amount out of a bucket that holds a second's worth.
 *
 * @param bucket undefined for a full one
 * @param perSecond how fast it fills, and how much it holds
 * @param least how much must be in it for anything to be taken: the amount itself, or where amounts may be larger than the
 * bucket, less
 */
export function take(
  bucket: Bucket | undefined,
  amount: number,
  perSecond: number,
  least: number,
  now: number,
): Taken {
  const holds = Math.max(perSecond, least);
  const filled =
    bucket === undefined ? holds : Math.min(holds, bucket.level + ((now - bucket.at) / secondMs) * perSecond);
  const isTaken = filled >= least;
  const level = isTaken ? filled - amount : filled;
  const moreAt = level >= least ? now : now + ((least - level) / perSecond) * secondMs;
  return { bucket: { level, at: now }, isTaken, left: Math.max(0, Math.floor(level)), moreAt };
}
