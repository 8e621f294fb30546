import { clockMarginMs } from '../../shared/clock.ts';
import type { AdmittedTo } from '../../job/job.ts';
import type { Turn } from '../../value/turn.ts';
import { type DeletedFairLine, type DeletedLine, type Lane, withLease } from '../lane.ts';
import { placeOf } from './arrival.ts';
import { askToLeave } from './fairLine.ts';

/**
 * Removes a cancelled message from the line, or ends its slot.
 *
 * @param until the time by which an attempt in flight must have ended; undefined if none can be in flight
 */
export function withdraw(lane: Lane, entry: string, until: number | undefined, turn?: Turn): Lane {
  if (!lane.leases.has(entry)) return withdrawWaiting(lane, entry, turn);
  return until === undefined ? withLease(lane, entry, undefined) : endLease(lane, entry, until);
}

/** @param until the time by which an attempt in flight must have ended */
export function endLease(lane: Lane, holder: string, until: number): Lane {
  const lease = lane.leases.get(holder);
  if (lease === undefined || (lease.until !== undefined && lease.until <= until)) return lane;
  return withLease(lane, holder, { ...lease, until, callbacks: [] });
}

/** Removes a cancelled message from the line. If it has a slot, its attempt frees it. */
export function withdrawWaiting(lane: Lane, entry: string, turn?: Turn): Lane {
  if (lane.leases.has(entry)) return lane;
  const { front, back, firstPage, nextPage } = lane.line;
  const isOther = (one: string): boolean => one !== entry;
  if (front.includes(entry) || back.includes(entry)) {
    return { ...lane, line: { ...lane.line, front: front.filter(isOther), back: back.filter(isOther) } };
  }
  const { fair } = lane;
  if (fair?.first.includes(entry) === true) {
    const first = fair.first.filter(isOther);
    return { ...lane, fair: { ...fair, first, waiting: fair.waiting + first.length - fair.first.length } };
  }
  const place = placeOf(turn);
  if (place !== undefined) return fair ? { ...lane, fair: askToLeave(fair, place, entry) } : lane;
  return firstPage < nextPage ? { ...lane, cancelled: lane.cancelled + 1 } : lane;
}

/**
 * Deletes a queue: it no longer holds messages back, and its waiting messages are to be cancelled.
 *
 * @param longestDelayMs how long the row is kept, so that delayed messages are cancelled when they are due
 */
export function deleted(lane: Lane, now: number, longestDelayMs: number): Lane {
  const { fair } = lane;
  const { front, firstPage, nextPage, back } = lane.line;
  const joining = fair?.asked.flatMap(({ entry, leaves }) => (leaves ? [] : entry)) ?? [];
  const entries = [...front, ...back, ...(fair?.first ?? []), ...joining];
  return {
    ...lane,
    // Page numbers are never reused: another process may still write pages of the deleted line.
    line: { front: [], firstPage: nextPage + 1, nextPage: nextPage + 1, back: [] },
    fair: undefined,
    deletedLines:
      entries.length === 0 && firstPage === nextPage
        ? lane.deletedLines
        : [...lane.deletedLines, { entries, firstPage, nextPage }],
    deletedFairLines:
      fair === undefined || fair.id === ''
        ? lane.deletedFairLines
        : [...lane.deletedFairLines, { fair: { ...fair, first: [], asked: [] } }],
    leases: new Map(),
    cancelled: 0,
    // A pump may be scheduled too late, so that the cancellation schedules another one.
    pumpAt: 0,
    isPaused: false,
    isDeleted: true,
    deletedAt: now,
    keptUntil: Math.max(lane.keptUntil, now + longestDelayMs),
    updatedAt: now,
  };
}

interface Arriving {
  readonly createdAt: number;
  /** When the message could first join the line. */
  readonly notBefore: number;
  readonly isAgain: boolean;
}

/**
 * Whether an arriving message's queue was deleted during its delay, so that the message must be cancelled. A
 * message published within seconds of the deletion is not: clocks differ, and the request that deletes the
 * queue cancels it.
 */
export function wasDeletedWith({ deletedAt }: Lane, { createdAt, notBefore, isAgain }: Arriving): boolean {
  if (deletedAt === undefined || createdAt >= deletedAt - clockMarginMs) return false;
  // If the job is redelivered, the message may have started before the deletion.
  return !isAgain || notBefore > deletedAt + clockMarginMs;
}

/**
 * Whether a grant ended because its queue was deleted. Only this job still has the message, which had left
 * the line.
 */
export const isGrantOfDeleted = (
  { deletedAt, leases }: Lane,
  entry: string,
  admittedTo: AdmittedTo | undefined,
): boolean =>
  deletedAt !== undefined && admittedTo !== undefined && admittedTo.sentAt <= deletedAt && !leases.has(entry);

/** Records the page up to which a deleted line's messages are cancelled. */
export function cancelledUpTo(lane: Lane, line: DeletedLine, page: number): Lane {
  // Page numbers repeat if a queue was removed and created again.
  const isIt = ({ nextPage, entries }: DeletedLine): boolean =>
    nextPage === line.nextPage && (entries.length === 0 || entries[0] === line.entries[0]);
  if (!lane.deletedLines.some(isIt)) return lane;
  const deletedLines = lane.deletedLines.flatMap((one): DeletedLine[] => {
    if (!isIt(one)) return [one];
    const firstPage = Math.max(one.firstPage, page);
    return firstPage < one.nextPage ? [{ entries: [], firstPage, nextPage: one.nextPage }] : [];
  });
  return { ...lane, deletedLines };
}

/** @param from where to continue; undefined if all messages are cancelled */
export const fairLineCancelled = (lane: Lane, { fair }: DeletedFairLine, from: string | undefined): Lane => ({
  ...lane,
  deletedFairLines: lane.deletedFairLines.flatMap((one): DeletedFairLine[] => {
    if (one.fair.id !== fair.id) return [one];
    return from === undefined ? [] : [{ fair: one.fair, from }];
  }),
});
