import type { Turn } from '../../value/turn.ts';
import {
  type Lane,
  type Lease,
  type Changed,
  hasCapacity,
  isLineEmpty,
  slotsOf,
  withLease,
  isLasting,
} from '../lane.ts';
import { askToJoin, rejoinFair, unnamed, type TenantPlace } from './fairLine.ts';
import { join, rejoin } from './line.ts';
import { countStart, nextFreeStart, startToleranceMs, uncountStart } from './rate.ts';

/**
 * A lane's answer to an attempt that arrives.
 *
 * - `in`: the attempt may continue.
 * - `waits`: it is in the line, so its job may be dropped.
 * - `early`: the grant that its job names is not written yet.
 * - `stale`: another job has the attempt's slot.
 */
export type Grant = 'in' | 'waits' | 'early' | 'stale';

export interface Arrival {
  readonly entry: string;
  readonly turn?: Turn | undefined;
  /** The ticket of the grant that its job names, if any. */
  readonly ticket?: string | undefined;
  /** Whether the grant that its job names, by any lane, may not be written yet. */
  readonly isYoung: boolean;
  /** When its lease ends, Unix milliseconds; undefined if it ends with the message. */
  readonly until: number | undefined;
  /** Whether it has waited in another lane's line. It does not wait again if there is capacity. */
  readonly hasWaited: boolean;
  /** Whether another job of the attempt may have started it. */
  readonly mayHaveStarted: boolean;
}

/** Gives an arriving attempt a slot, or puts it in the line. */
export function enter(lane: Lane, arrival: Arrival, now: number): Changed<Grant> {
  const { entry, ticket, until } = arrival;
  const lease = lane.leases.get(entry);
  if (lease?.ticket === ticket && lease !== undefined) return claim(lane, arrival, lease, now);
  // A message keeps one slot of its queue. In other lanes, an attempt may get another slot while the row is read.
  if (lane.kind === 'queue' && lease !== undefined && isLasting(lease, now)) return { lane, result: 'stale' };
  if (arrival.isYoung && (ticket !== undefined || lease !== undefined)) return { lane, result: 'early' };
  if (lease !== undefined) return { lane, result: 'stale' };
  if (!hasCapacity(lane, now) || !(isLineEmpty(lane) || arrival.hasWaited)) {
    return { lane: joinLine(lane, entry, arrival.turn), result: 'waits' };
  }
  const taken =
    slotsOf(lane, now) === undefined
      ? lane
      : withLease(lane, entry, { slots: 1, until, ticket, ...startOf(lane, now) });
  return { lane: countStart(taken, now), result: 'in' };
}

export const startOf = ({ rate }: Lane, now: number): Pick<Lease, 'startAt'> =>
  rate === undefined ? {} : { startAt: now };

/** How long a late job waits for the next free start, so that later grants do not always overtake it. */
export const longestStartWaitMs = 5_000;

/**
 * Lets an attempt with a lease continue: the lane granted it, or its job is redelivered. If the job is late, its start is
 * counted again, up to {@link longestStartWaitMs} from now, at `startAt` of its lease.
 *
 * @param isBack whether it has waited for another lane: its start is always counted again then, see {@link keepWaiting}
 * @param countedAt when its start was counted before, if it is back
 */
function claim(
  found: Lane,
  arrival: Arrival,
  lease: Lease,
  now: number,
  isBack = false,
  countedAt?: number,
): Changed<Grant> {
  const { entry, until, mayHaveStarted } = arrival;
  const isLongEnough = lease.until === undefined || (until !== undefined && lease.until >= until);
  const { startAt } = lease;
  const isInTime = startAt !== undefined && now - startAt <= startToleranceMs;
  const isCounted = found.rate === undefined || (isInTime && !isBack);
  if (isLongEnough && isCounted) return { lane: found, result: 'in' };
  // The job's first delivery may have counted this start and be about to make it.
  const isOfAnother = isBack && startAt !== countedAt;
  const lane = isCounted || mayHaveStarted || isOfAnother ? found : uncountStart(found, startAt);
  const longer = { ...lease, until: isLongEnough ? lease.until : until };
  if (isCounted) return { lane: withLease(lane, entry, longer), result: 'in' };
  const free = nextFreeStart(lane, now);
  // Waiting here would block the attempt's slot of the next lane.
  if (free - now > (isBack ? 0 : longestStartWaitMs)) {
    const without = withLease(lane, entry, undefined);
    return { lane: joinAgain(without, entry), result: 'waits' };
  }
  // Each start has a different time, to distinguish it from the one before.
  const at = startAt === free ? free + 1 : free;
  const lasting = longer.until === undefined ? undefined : longer.until + at - now;
  return {
    lane: countStart(withLease(lane, entry, { ...longer, until: lasting, startAt: at }), at),
    result: 'in',
  };
}

/** Undefined if the message waits in the lane's own line. */
export function placeOf({ fairKey = unnamed, priority = 'normal' }: Turn = {}): TenantPlace | undefined {
  return fairKey === unnamed && priority === 'normal' ? undefined : { name: fairKey, priority };
}

/** Puts an attempt at the end of the line, even if there is capacity. */
export function joinLine(lane: Lane, entry: string, turn?: Turn): Lane {
  const place = placeOf(turn);
  return place === undefined
    ? { ...lane, line: join(lane.line, entry) }
    : { ...lane, fair: askToJoin(lane.fair, place, entry) };
}

/** An attempt that lost its slot without a fault is next. */
export const joinAgain = (lane: Lane, entry: string): Lane =>
  lane.fair === undefined
    ? { ...lane, line: rejoin(lane.line, entry) }
    : { ...lane, fair: rejoinFair(lane.fair, entry) };

/**
 * Keeps an attempt's slot while it waits for another lane. Its start is counted when it continues.
 *
 * @param until when its lease ends, Unix milliseconds
 * @param countedAt when its start was counted; undefined to keep that start, because another job may have made it
 */
export function keepWaiting(lane: Lane, holder: string, until: number, countedAt: number | undefined): Lane {
  const lease = lane.leases.get(holder);
  // The other lane had capacity immediately, so the attempt has continued.
  const hasGoneOn = countedAt !== undefined && lease?.startAt !== undefined && lease.startAt !== countedAt;
  if (hasGoneOn) return lane;
  if (lease === undefined) return uncountStart(lane, countedAt);
  const kept = withLease(lane, holder, { ...lease, until, startAt: undefined });
  // A lease without a start was handled before. The starts counted now belong to other attempts.
  return countedAt === undefined ? kept : uncountStart(kept, lease.startAt);
}

/**
 * Extends the lease of an attempt, if it has one that ends earlier.
 *
 * @param until Unix milliseconds
 */
export function keepUntil(lane: Lane, holder: string, until: number): Lane {
  const lease = lane.leases.get(holder);
  if (lease?.until === undefined || lease.until >= until) return lane;
  return withLease(lane, holder, { ...lease, until });
}

/**
 * Continues an attempt that has waited for another lane: now, or as a new arrival if its lease has ended.
 *
 * @param countedAt see {@link keepWaiting}
 */
export function resume(
  lane: Lane,
  arrival: Arrival,
  countedAt: number | undefined,
  now: number,
): Changed<Grant> {
  const lease = lane.leases.get(arrival.entry);
  if (lease !== undefined) return claim(lane, arrival, lease, now, true, countedAt);
  return enter(uncountStart(lane, countedAt), { ...arrival, isYoung: false, hasWaited: true }, now);
}
