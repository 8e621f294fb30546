import { isLasting, type Lane, type Changed, withLease } from '../lane.ts';
import { uncountStart } from './rate.ts';

/**
 * A callback's id has about 35 bytes. The row also has up to {@link mostLeases} leases. Only dozens of
 * messages with dozens of callbacks each would exceed this.
 */
const mostCallbacks = 3_000;

const callbacksIn = ({ leases }: Lane): number =>
  [...leases.values()].reduce((sum, { callbacks = [] }) => sum + callbacks.length, 0);

/**
 * Keeps a message's slot until these callbacks are over too, unless the row would become too large. Must be
 * done before the callbacks are sent, because each calls {@link leaveCallback}.
 */
export function keepFor(lane: Lane, holder: string, callbacks: readonly string[]): Lane {
  const lease = lane.leases.get(holder);
  // Callbacks that are added after the message's last attempt was recorded are of another worker's attempt.
  if (lease === undefined || lease.isOver === true) return lane;
  const all = [...new Set([...(lease.callbacks ?? []), ...callbacks])];
  if (all.length === (lease.callbacks ?? []).length) return lane;
  if (callbacksIn(lane) + callbacks.length > mostCallbacks) return lane;
  return withLease(lane, holder, { ...lease, callbacks: all });
}

/** Frees a slot, or keeps it for the message's callbacks. */
export function leave(lane: Lane, holder: string): Lane {
  const lease = lane.leases.get(holder);
  if (lease === undefined || lease.isOver === true) return lane;
  const isKept = (lease.callbacks ?? []).length > 0;
  return withLease(lane, holder, isKept ? { ...lease, isOver: true } : undefined);
}

/**
 * Frees the slot of a message that is over, when its callbacks are over.
 *
 * @param owed the callbacks of its recorded attempts. Other callbacks are of another worker's attempt that
 * was not recorded, and are never sent
 */
export function leaveWith(lane: Lane, holder: string, owed: ReadonlySet<string>): Lane {
  const lease = lane.leases.get(holder);
  if (lease === undefined) return lane;
  const kept = lease.callbacks ?? [];
  const callbacks = kept.filter((callback) => owed.has(callback));
  if (lease.isOver === true && callbacks.length === kept.length) return lane;
  return withLease(lane, holder, callbacks.length === 0 ? undefined : { ...lease, callbacks, isOver: true });
}

export type DeclineReason =
  /** The attempt is recorded. Its message keeps the slot for the next one. */
  | 'goesOn'
  /** The attempt is over. In a queue: the message is over. */
  | 'over'
  | 'cancelled';

/**
 * Ends an unneeded grant's lease, unless its message continues.
 *
 * @returns `early` if the grant is not written yet
 */
export function endGrant(
  lane: Lane,
  holder: string,
  ticket: string,
  reason: DeclineReason,
  now: number,
): Changed<'left' | 'early'> {
  const lease = lane.leases.get(holder);
  // If another grant has replaced the lease, this one was never written.
  if (lease?.ticket !== ticket) return { lane, result: lease && isLasting(lease, now) ? 'left' : 'early' };
  switch (reason) {
    case 'goesOn':
      return { lane, result: 'left' };
    case 'over':
      return { lane: leave(lane, holder), result: 'left' };
    case 'cancelled': {
      const cancelled = Math.max(0, lane.cancelled - 1);
      const left = withLease(lane, holder, undefined);
      // The attempt never started.
      return { lane: { ...uncountStart(left, lease.startAt), cancelled }, result: 'left' };
    }
  }
}

/** Notes that a callback is over. The last one frees the slot if the message is over too. */
export function leaveCallback(lane: Lane, holder: string, callback: string): Lane {
  const lease = lane.leases.get(holder);
  if (lease?.callbacks?.includes(callback) !== true) return lane;
  const callbacks = lease.callbacks.filter((one) => one !== callback);
  const isDone = callbacks.length === 0 && lease.isOver === true;
  return withLease(lane, holder, isDone ? undefined : { ...lease, callbacks });
}

/** Frees the slot of a message that is over, unless the slot was granted again since. */
export function endedHolder(lane: Lane, holder: string, ticket: string | undefined): Lane {
  const lease = lane.leases.get(holder);
  return lease === undefined || lease.ticket !== ticket ? lane : withLease(lane, holder, undefined);
}
