/** Holders that leave a lane, when their attempt, or their message in a queue, is over. */
import { isLasting, type Lane, type Changed, withLease } from '../lane.ts';
import { uncountStart } from './rate.ts';

/**
 * Callbacks that a lane notes, of some 35 bytes each: they fit into a row beside {@link mostLeases}. Only dozens of messages with
 * dozens of callbacks each that are not over have more.
 */
const mostCallbacks = 3_000;

const callbacksIn = ({ leases }: Lane): number =>
  [...leases.values()].reduce((sum, { callbacks = [] }) => sum + callbacks.length, 0);

/**
 * A queue's message keeps its slot until these callbacks are over, too, unless the lane has too many already: a row that is
 * too large could not be written any more. Call it before they are sent: each calls {@link leaveCallback} when it is over, and
 * again whenever its job is handed out again.
 */
export function keepFor(lane: Lane, holder: string, callbacks: readonly string[]): Lane {
  const lease = lane.leases.get(holder);
  // The slot is kept for no more callbacks once the message's last attempt is recorded: these are of an attempt that two workers made.
  if (lease === undefined || lease.isOver === true) return lane;
  const all = [...new Set([...(lease.callbacks ?? []), ...callbacks])];
  if (all.length === (lease.callbacks ?? []).length) return lane;
  if (callbacksIn(lane) + callbacks.length > mostCallbacks) return lane;
  return withLease(lane, holder, { ...lease, callbacks: all });
}

/** Frees the slot of a holder whose attempt, or whose message in a queue, is over; a message keeps it for its callbacks. */
export function leave(lane: Lane, holder: string): Lane {
  const lease = lane.leases.get(holder);
  if (lease === undefined || lease.isOver === true) return lane;
  const isKept = (lease.callbacks ?? []).length > 0;
  return withLease(lane, holder, isKept ? { ...lease, isOver: true } : undefined);
}

/**
 * Frees the slot of a queue's message that is over, once its callbacks are.
 *
 * @param owed the callbacks of its attempts as they are recorded. Others in the lease were noted by a worker whose attempt came to
 * another end, and was not the one that is recorded: they are never sent.
 */
export function leaveWith(lane: Lane, holder: string, owed: ReadonlySet<string>): Lane {
  const lease = lane.leases.get(holder);
  if (lease === undefined) return lane;
  const kept = lease.callbacks ?? [];
  const callbacks = kept.filter((callback) => owed.has(callback));
  if (lease.isOver === true && callbacks.length === kept.length) return lane;
  return withLease(lane, holder, callbacks.length === 0 ? undefined : { ...lease, callbacks, isOver: true });
}

/** The reason why a job that was sent for a grant is not needed any more. */
export type DeclineReason =
  /** The attempt of the job is recorded, and the slot belongs to a message that goes on. */
  | 'goesOn'
  /** The attempt of the job is over, or its message, if it is in a queue. */
  | 'over'
  | 'cancelled';

/**
 * Ends the lease of a grant whose job is not needed any more, unless its message goes on.
 *
 * @returns `early` where the grant is not written yet
 */
export function endGrant(
  lane: Lane,
  holder: string,
  ticket: string,
  reason: DeclineReason,
  now: number,
): Changed<'left' | 'early'> {
  const lease = lane.leases.get(holder);
  // A lease with another ticket says that this grant was never written.
  if (lease?.ticket !== ticket) return { lane, result: lease && isLasting(lease, now) ? 'left' : 'early' };
  switch (reason) {
    case 'goesOn':
      return { lane, result: 'left' };
    case 'over':
      return { lane: leave(lane, holder), result: 'left' };
    case 'cancelled': {
      const cancelled = Math.max(0, lane.cancelled - 1);
      const left = withLease(lane, holder, undefined);
      // The attempt was never started.
      return { lane: { ...uncountStart(left, lease.startAt), cancelled }, result: 'left' };
    }
  }
}

/** Notes that a callback is over. The slot of its message is free with the last one, if the message is over too. */
export function leaveCallback(lane: Lane, holder: string, callback: string): Lane {
  const lease = lane.leases.get(holder);
  if (lease?.callbacks?.includes(callback) !== true) return lane;
  const callbacks = lease.callbacks.filter((one) => one !== callback);
  const isDone = callbacks.length === 0 && lease.isOver === true;
  return withLease(lane, holder, isDone ? undefined : { ...lease, callbacks });
}

/** Ends the slot of a message that was found to be over, unless it has been given another meanwhile. */
export function endedHolder(lane: Lane, holder: string, ticket: string | undefined): Lane {
  const lease = lane.leases.get(holder);
  return lease === undefined || lease.ticket !== ticket ? lane : withLease(lane, holder, undefined);
}
