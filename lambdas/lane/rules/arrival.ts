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
  /** The ticket of the grant in the attempt's job, if any. */
  readonly ticket?: string | undefined;
  /** Whether the attempt's job is so new that its grant may not be written yet. */
  readonly isYoung: boolean;
  /** When the lease will end; undefined if it ends with the message. */
  readonly until: number | undefined;
  /**
   * Whether the attempt has waited in another lane's line. Then it goes before those that wait here, if there
   * is capacity.
   */
  readonly hasWaited: boolean;
  readonly mayHaveStarted: boolean;
}

/** Gives an arriving attempt a slot, or puts it in the line. */
export function enter(lane: Lane, arrival: Arrival, now: number): Changed<Grant> {
  const { entry, ticket, until } = arrival;
  const lease = lane.leases.get(entry);
  if (lease?.ticket === ticket && lease !== undefined) return claim(lane, arrival, lease, now);
  // A message keeps its slot of a queue. In other lanes, another attempt may have taken the slot in the
  // meantime.
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

/**
 * The longest wait of a late job for its next free start. Without a wait, grants that come later would always
 * go first.
 */
export const longestStartWaitMs = 5_000;

/**
 * Lets an attempt with a lease continue: the lane granted the lease, or the job is redelivered. If the job is
 * late, its start is counted again, at most {@link longestStartWaitMs} from now.
 *
 * @param isBack whether the attempt waited for another lane; then its start is always counted again, see
 * {@link keepWaiting}
 * @param countedAt when its start was counted before, if `isBack`
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
  // Another delivery of this job has counted the start, and may be about to make it.
  const isOfAnother = isBack && startAt !== countedAt;
  const lane = isCounted || mayHaveStarted || isOfAnother ? found : uncountStart(found, startAt);
  const longer = { ...lease, until: isLongEnough ? lease.until : until };
  if (isCounted) return { lane: withLease(lane, entry, longer), result: 'in' };
  const free = nextFreeStart(lane, now);
  // Waiting here would block the slot that the attempt has in the next lane.
  if (free - now > (isBack ? 0 : longestStartWaitMs)) {
    const without = withLease(lane, entry, undefined);
    return { lane: joinAgain(without, entry), result: 'waits' };
  }
  // Each start has a different time, so that it can be distinguished from the one before.
  const at = startAt === free ? free + 1 : free;
  const lasting = longer.until === undefined ? undefined : longer.until + at - now;
  return {
    lane: countStart(withLease(lane, entry, { ...longer, until: lasting, startAt: at }), at),
    result: 'in',
  };
}

/** The place in the fair line; undefined if the message waits in the lane's own line. */
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

/** Puts an attempt first in the line, because it lost its slot without a fault. */
export const joinAgain = (lane: Lane, entry: string): Lane =>
  lane.fair === undefined
    ? { ...lane, line: rejoin(lane.line, entry) }
    : { ...lane, fair: rejoinFair(lane.fair, entry) };

/**
 * Keeps an attempt's slot while it waits for another lane. Its start is counted when it continues.
 *
 * @param until when its lease ends
 * @param countedAt the counted start to remove; undefined to keep it, because another job may have made it
 */
export function keepWaiting(lane: Lane, holder: string, until: number, countedAt: number | undefined): Lane {
  const lease = lane.leases.get(holder);
  // The other lane had capacity at once, so the attempt has already continued.
  const hasGoneOn = countedAt !== undefined && lease?.startAt !== undefined && lease.startAt !== countedAt;
  if (hasGoneOn) return lane;
  if (lease === undefined) return uncountStart(lane, countedAt);
  const kept = withLease(lane, holder, { ...lease, until, startAt: undefined });
  // This change was made before if the lease has no start. The start counted at that time belongs to another
  // attempt.
  return countedAt === undefined ? kept : uncountStart(kept, lease.startAt);
}

/** Extends an attempt's lease, if it has one that ends earlier. */
export function keepUntil(lane: Lane, holder: string, until: number): Lane {
  const lease = lane.leases.get(holder);
  if (lease?.until === undefined || lease.until >= until) return lane;
  return withLease(lane, holder, { ...lease, until });
}

/**
 * Lets an attempt that has waited for another lane continue. If its lease has ended, it arrives as a new one.
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
