import { startOf } from './arrival.ts';
import { type Lane, type Lease, freeSlots, hasCapacity, withLease } from '../lane.ts';
import { next, withPage } from './line.ts';
import { countStart, freeStarts } from './rate.ts';
import type { NextTurn, Unread } from './turns.ts';

type GrantStep =
  | { readonly kind: 'none' }
  | Unread
  /** The first entry needs no slot: its attempt already has one, or is over. */
  | { readonly kind: 'dropped'; readonly lane: Lane }
  | { readonly kind: 'granted'; readonly lane: Lane; readonly entry: string };

/**
 * Grants a slot to the first entry in the line, if there is capacity.
 *
 * @param hasLeft whether an entry that was twice in the line is already over
 * @param nextOf finds the first entry; `turns` is how many will be granted
 */
export function grantNext(
  lane: Lane,
  leaseOf: (entry: string) => Lease,
  now: number,
  hasLeft: (entry: string) => boolean = () => false,
  nextOf: (lane: Lane, turns: number) => NextTurn | undefined = nextInLine,
): GrantStep {
  if (!hasCapacity(lane, now)) return { kind: 'none' };
  const first = nextOf(lane, Math.min(freeSlots(lane, now), freeStarts(lane, now)));
  if (first === undefined) return { kind: 'none' };
  if (first.kind !== 'next') return first;
  const { entry, lane: moved } = first;
  if (lane.leases.has(entry) || hasLeft(entry)) return { kind: 'dropped', lane: moved };
  const lease = { ...leaseOf(entry), ...startOf(lane, now) };
  return { kind: 'granted', lane: countStart(withLease(moved, entry, lease), now), entry };
}

export function nextInLine(lane: Lane): NextTurn | undefined {
  const first = next(lane.line);
  if (first === undefined) return undefined;
  if (typeof first === 'number') return { kind: 'page', number: first };
  return { kind: 'next', entry: first.entry, lane: { ...lane, line: first.rest } };
}

export const withPageRead = (lane: Lane, entries: readonly string[]): Lane => ({
  ...lane,
  line: withPage(lane.line, entries),
});
