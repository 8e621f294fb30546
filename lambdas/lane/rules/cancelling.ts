/** Messages that are cancelled, and queues that are deleted with all messages that wait in them. */
import { clockMarginMs } from '../../shared/clock.ts';
import type { Turn } from '../../value/turn.ts';
import { type DeletedFairLine, type DeletedLine, type Lane, withLease } from '../lane.ts';
import { placeOf } from './arrival.ts';
import { askToLeave } from './fairLine.ts';

/**
 * Takes a cancelled message out of the line, or ends its slot.
 *
 * @param until Unix milliseconds by which an attempt of it that may be in flight has ended; undefined where none is
 */
export function withdraw(lane: Lane, entry: string, until: number | undefined, turn?: Turn): Lane {
  if (!lane.leases.has(entry)) return withdrawWaiting(lane, entry, turn);
  return until === undefined ? withLease(lane, entry, undefined) : endLease(lane, entry, until);
}

/**
 * Sets the end of a slot whose message was cancelled.
 *
 * @param until Unix milliseconds by which an attempt that may be in flight has ended
 */
export function endLease(lane: Lane, holder: string, until: number): Lane {
  const lease = lane.leases.get(holder);
  if (lease === undefined || (lease.until !== undefined && lease.until <= until)) return lane;
  return withLease(lane, holder, { ...lease, until, callbacks: [] });
}

/** Takes a cancelled message out of the line. One that has a slot gives it back when its attempt is over. */
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
 * Deletes a queue: it holds nothing back from now on, and all messages that wait in it are to be cancelled.
 *
 * @param now Unix milliseconds
 * @param longestDelayMs the longest that a message of it may still be delayed. Its row is kept for so long, so that these are
 * cancelled when they come
 */
export function deleted(lane: Lane, now: number, longestDelayMs: number): Lane {
  const { fair } = lane;
  const { front, firstPage, nextPage, back } = lane.line;
  const joining = fair?.asked.flatMap(({ entry, leaves }) => (leaves ? [] : entry)) ?? [];
  const entries = [...front, ...back, ...(fair?.first ?? []), ...joining];
  return {
    ...lane,
    // Numbers of pages are not used again: another process may still be writing those of the deleted line.
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
    // A pump that is on its way may come much later, so the cancellation gets a pump of its own.
    pumpAt: 0,
    isPaused: false,
    isDeleted: true,
    deletedAt: now,
    keptUntil: Math.max(lane.keptUntil, now + longestDelayMs),
    updatedAt: now,
  };
}

/** A message of a queue whose first job has come. */
interface Arriving {
  /** When it was published, Unix milliseconds. */
  readonly createdAt: number;
  /** Before this it could not be in the queue's line, Unix milliseconds. */
  readonly notBefore: number;
  /** Whether its job has been handed out before. */
  readonly isAgain: boolean;
}

/**
 * Whether a message that arrives at its queue was delayed while the queue was deleted: then it is cancelled, as those in the line
 * were. Clocks of processes differ, so a message that was published within seconds of the deletion does not count: it may have come
 * after. The request that deletes the queue looks for these itself.
 */
export function wasDeletedWith({ deletedAt }: Lane, { createdAt, notBefore, isAgain }: Arriving): boolean {
  if (deletedAt === undefined || createdAt >= deletedAt - clockMarginMs) return false;
  // A redelivered job may belong to a message that started before the deletion.
  return !isAgain || notBefore > deletedAt + clockMarginMs;
}

/** Notes that the messages of a deleted line were cancelled up to a page. Another pump may have noted that before. */
export function cancelledUpTo(lane: Lane, line: DeletedLine, page: number): Lane {
  // A queue that was removed and made again begins with the same numbers of pages.
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

/**
 * Notes that the messages of a deleted fair line were cancelled up to a place.
 *
 * @param from undefined where all were
 */
export const fairLineCancelled = (lane: Lane, { fair }: DeletedFairLine, from: string | undefined): Lane => ({
  ...lane,
  deletedFairLines: lane.deletedFairLines.flatMap((one): DeletedFairLine[] => {
    if (one.fair.id !== fair.id) return [one];
    return from === undefined ? [] : [{ fair: one.fair, from }];
  }),
});
