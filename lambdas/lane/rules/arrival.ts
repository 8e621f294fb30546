/** Attempts that arrive at a lane: each takes a slot, or joins the line. */
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
 * The answer of a lane to an attempt that arrives.
 *
 * - `in`: it may go on.
 * - `waits`: it is in the line, and its job may be dropped.
 * - `early`: its job was sent for a grant that is not written yet.
 * - `stale`: another job stands for the same attempt.
 */
export type Grant = 'in' | 'waits' | 'early' | 'stale';

export interface Arrival {
  readonly entry: string;
  readonly turn?: Turn | undefined;
  /** The ticket of the grant that its job was sent for, if any. */
  readonly ticket?: string | undefined;
  /** Whether its job was sent for a grant, of this lane or another, so lately that the grant may not be written yet. */
  readonly isYoung: boolean;
  /** The end of its lease, Unix milliseconds; undefined where the lease ends with the message. */
  readonly until: number | undefined;
  /** Whether it has waited in another lane's line: where there is capacity, it does not wait behind others again. */
  readonly hasWaited: boolean;
  /** Whether another job of the same attempt may have started it. */
  readonly mayHaveStarted: boolean;
}

/** Gives an attempt that arrives a slot, or puts it into the line. */
export function enter(lane: Lane, arrival: Arrival, now: number): Changed<Grant> {
  const { entry, ticket, until } = arrival;
  const lease = lane.leases.get(entry);
  if (lease?.ticket === ticket && lease !== undefined) return claim(lane, arrival, lease, now);
  // A message has one slot of its queue for as long as it is under way. An attempt may give back a slot of a key or an account,
  // and be granted another, while this is read.
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
 * A job that comes too late for the start that was counted takes the next that is free, and waits for it no longer than this.
 * If it did not wait, then with a backlog that lasts longer than a period, jobs that have come would always give way to those
 * that were granted later.
 */
export const longestStartWaitMs = 5_000;

/**
 * Lets an attempt go on that has its lease: the lane granted it, or its job is handed out again because its worker died.
 * SQS may bring the job late; then its start is counted again, at the moment at which it is made. This may be later than now
 * ({@link longestStartWaitMs}): `startAt` of its lease says when.
 *
 * @param isBack whether it has waited for another lane: then its start is counted again in any case, see {@link keepWaiting}
 * @param countedAt the start that it counted before, if it is back
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
  // Another job of the attempt, that came again, may have counted a start since, and be about to make it.
  const isOfAnother = isBack && startAt !== countedAt;
  const lane = isCounted || mayHaveStarted || isOfAnother ? found : uncountStart(found, startAt);
  const longer = { ...lease, until: isLongEnough ? lease.until : until };
  if (isCounted) return { lane: withLease(lane, entry, longer), result: 'in' };
  const free = nextFreeStart(lane, now);
  // An attempt that waits here would keep the slot that it has of the next lane, which others wait for.
  if (free - now > (isBack ? 0 : longestStartWaitMs)) {
    const without = withLease(lane, entry, undefined);
    return { lane: joinAgain(without, entry), result: 'waits' };
  }
  // Each start has a moment of its own, so that it can be told from the start before it.
  const at = startAt === free ? free + 1 : free;
  const lasting = longer.until === undefined ? undefined : longer.until + at - now;
  return {
    lane: countStart(withLease(lane, entry, { ...longer, until: lasting, startAt: at }), at),
    result: 'in',
  };
}

/** The place in a fair line of a message with a turn; undefined for one that waits in the lane's own line. */
export function placeOf({ fairKey = unnamed, priority = 'normal' }: Turn = {}): TenantPlace | undefined {
  return fairKey === unnamed && priority === 'normal' ? undefined : { name: fairKey, priority };
}

/** Puts an attempt at the end of the line, whether or not there is capacity. */
export function joinLine(lane: Lane, entry: string, turn?: Turn): Lane {
  const place = placeOf(turn);
  return place === undefined
    ? { ...lane, line: join(lane.line, entry) }
    : { ...lane, fair: askToJoin(lane.fair, place, entry) };
}

/** Puts an attempt at the beginning of the line: it was granted a slot, and has to wait again through no fault of its own. */
export const joinAgain = (lane: Lane, entry: string): Lane =>
  lane.fair === undefined
    ? { ...lane, line: rejoin(lane.line, entry) }
    : { ...lane, fair: rejoinFair(lane.fair, entry) };

/**
 * Has an attempt keep its slot while it waits for another lane. Its start is counted when it goes on.
 *
 * @param until the end of its lease meanwhile, Unix milliseconds
 * @param countedAt when its start was counted before; undefined where that stays, because another job may have made it
 */
export function keepWaiting(lane: Lane, holder: string, until: number, countedAt: number | undefined): Lane {
  const lease = lane.leases.get(holder);
  // The other lane had capacity at once, and the attempt has gone on before this came.
  const hasGoneOn = countedAt !== undefined && lease?.startAt !== undefined && lease.startAt !== countedAt;
  if (hasGoneOn) return lane;
  if (lease === undefined) return uncountStart(lane, countedAt);
  const kept = withLease(lane, holder, { ...lease, until, startAt: undefined });
  // A lease that has no start any more was noted before: the starts that are counted now belong to others.
  return countedAt === undefined ? kept : uncountStart(kept, lease.startAt);
}

/**
 * Extends the lease of an attempt. One that was given back stays away, and one that ends with its message, or later, stays as it is.
 *
 * @param until Unix milliseconds
 */
export function keepUntil(lane: Lane, holder: string, until: number): Lane {
  const lease = lane.leases.get(holder);
  if (lease?.until === undefined || lease.until >= until) return lane;
  return withLease(lane, holder, { ...lease, until });
}

/**
 * Lets an attempt go on that has waited for another lane. It starts now, with the slot that it kept; where its lease has ended
 * meanwhile, it arrives again.
 *
 * @param countedAt as in {@link keepWaiting}
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
