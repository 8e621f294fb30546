/** Grants of slots to attempts that wait in a lane. */
import { startOf } from './arrival.ts';
import { type Lane, type Lease, hasCapacity, withLease } from '../lane.ts';
import { next, withPage } from './line.ts';
import { countStart } from './rate.ts';

export type GrantStep =
  | { readonly kind: 'none' }
  /** A page of the line has to be read first. */
  | { readonly kind: 'page'; readonly number: number }
  /** The first entry needs no slot: its attempt has one already, or has left. */
  | { readonly kind: 'dropped'; readonly lane: Lane }
  | { readonly kind: 'granted'; readonly lane: Lane; readonly entry: string };

/**
 * Grants a slot to the first of the line, if there is capacity.
 *
 * @param leaseOf makes the lease of an entry
 * @param hasLeft tells whether an entry is over, though it stands in the line once more
 */
export function grantNext(
  lane: Lane,
  leaseOf: (entry: string) => Lease,
  now: number,
  hasLeft: (entry: string) => boolean = () => false,
): GrantStep {
  if (!hasCapacity(lane, now)) return { kind: 'none' };
  const first = next(lane.line);
  if (first === undefined) return { kind: 'none' };
  if (typeof first === 'number') return { kind: 'page', number: first };
  const { entry, rest } = first;
  const moved = { ...lane, line: rest };
  if (lane.leases.has(entry) || hasLeft(entry)) return { kind: 'dropped', lane: moved };
  const lease = { ...leaseOf(entry), ...startOf(lane, now) };
  return { kind: 'granted', lane: countStart(withLease(moved, entry, lease), now), entry };
}

export const withPageRead = (lane: Lane, entries: readonly string[]): Lane => ({
  ...lane,
  line: withPage(lane.line, entries),
});
