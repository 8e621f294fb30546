/** Admission of those who wait in a lane. */
import { startOf } from './arrival.ts';
import { type Lane, type Lease, hasRoom, withLease } from '../lane.ts';
import { next, withPage } from './line.ts';
import { countStart } from './rate.ts';

export type Admission =
  | { readonly kind: 'none' }
  /** A page of the line has to be read first. */
  | { readonly kind: 'page'; readonly number: number }
  /** There was nothing to admit in the place of this entry: its attempt has its slot already, or has left. */
  | { readonly kind: 'dropped'; readonly lane: Lane }
  | { readonly kind: 'admitted'; readonly lane: Lane; readonly entry: string };

/**
 * Admits the first of the line, if there is room.
 *
 * @param leaseOf the lease that an entry gets
 * @param hasLeft tells of an entry that is over, though it stands in the line once more
 */
export function admit(
  lane: Lane,
  leaseOf: (entry: string) => Lease,
  now: number,
  hasLeft: (entry: string) => boolean = () => false,
): Admission {
  if (!hasRoom(lane, now)) return { kind: 'none' };
  const first = next(lane.line);
  if (first === undefined) return { kind: 'none' };
  if (typeof first === 'number') return { kind: 'page', number: first };
  const { entry, rest } = first;
  const moved = { ...lane, line: rest };
  if (lane.leases.has(entry) || hasLeft(entry)) return { kind: 'dropped', lane: moved };
  const lease = { ...leaseOf(entry), ...startOf(lane, now) };
  return { kind: 'admitted', lane: countStart(withLease(moved, entry, lease), now), entry };
}

export const withPageRead = (lane: Lane, entries: readonly string[]): Lane => ({
  ...lane,
  line: withPage(lane.line, entries),
});
