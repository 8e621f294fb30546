import { pruned, type Lane, type LaneKey, type Lease } from '../lane.ts';
import { asOf } from '../rules/asOf.ts';
import { withoutEndedHold } from '../rules/hold.ts';
import { endOfGrant, parseEntry, type Entry } from '../rules/entry.ts';
import { grantNext, nextInLine, withPageRead } from '../rules/grant.ts';
import type { Unread } from '../rules/turns.ts';
import type { Spilled } from './fairLines.ts';
import { mayAskMore, mostTurns, withoutEmptyFair, LineRows } from './lineRows.ts';
import type { LaneStore } from './laneStore.ts';

/** Slots granted in one write. A pump grants the rest. */
const mostGranted = 100;

export interface Granted extends Entry {
  readonly ticket: string;
}

export interface PendingChange {
  /** Changes a lane. After the write, `tell` gives the caller its result. */
  readonly apply: (lane: Lane, now: number) => { readonly lane: Lane; readonly tell: () => void };
  readonly fail: (error: unknown) => void;
}

type Read<T> = (T & { readonly unread?: undefined }) | { readonly unread: Unread | 'rules' };

interface Granting {
  readonly lane: Lane;
  readonly granted: readonly Granted[];
}

interface Applied extends Granting {
  /** Called after the write; one function for each change. */
  readonly tells: readonly (() => void)[];
  readonly time: number;
}

/**
 * Grants free slots to the first attempts in the line.
 *
 * @param before the lane in the table. If this change frees a message's slot of its queue, the message gets
 * no new slot in the same write. Its job could arrive before the write, find the old lease, and be dropped
 */
function grantAll(lane: Lane, before: Lane, time: number, ticket: string, rows: LineRows): Read<Granting> {
  const granted: Granted[] = [];
  const leaseOf = (entry: string): Lease => {
    const until = lane.kind === 'queue' ? undefined : endOfGrant(parseEntry(entry), time);
    return { slots: 1, until, ticket };
  };
  const hasLeft = (entry: string): boolean => lane.kind === 'queue' && before.leases.has(entry);
  let after = lane;
  for (;;) {
    const step = grantNext(after, leaseOf, time, hasLeft, (lane, turns) =>
      lane.fair === undefined
        ? nextInLine(lane)
        : rows.fairRules?.nextTurn(lane, lane.fair, rows.tenants, turns),
    );
    const most = after.fair === undefined ? mostGranted : mostTurns;
    if (step.kind === 'none' || granted.length >= most) return { lane: after, granted };
    if (step.kind === 'tenants') return { unread: step };
    if (step.kind === 'page' || step.kind === 'fairPage') {
      const entries = rows.page(step);
      if (entries === undefined) return { unread: step };
      after = step.kind === 'page' ? withPageRead(after, entries) : step.with(entries);
    } else {
      after = step.lane;
      if (step.kind === 'granted') granted.push({ ...parseEntry(step.entry), ticket });
    }
  }
}

function applied(
  before: Lane,
  spilled: Spilled,
  changes: readonly PendingChange[],
  time: number,
  ticket: string,
  rows: LineRows,
): Read<Applied> {
  const found = withoutEndedHold(asOf(spilled.lane, time), time);
  const start = pruned(found, time);
  let lane = start;
  const tells: (() => void)[] = [];
  for (const change of changes) {
    if (!mayAskMore(lane)) break;
    const changed = change.apply(lane, time);
    lane = changed.lane;
    tells.push(changed.tell);
  }
  if (lane.fair !== undefined) {
    if (rows.fairRules === undefined) return { unread: 'rules' };
    const settled = rows.fairRules.settledLane(lane, lane.fair, ticket, rows.tenants);
    if (settled.unread !== undefined) return settled;
    lane = settled.lane;
  }
  const granting = grantAll(lane, before, time, ticket, rows);
  if (granting.unread !== undefined) return granting;
  const { lane: after, granted } = granting;
  // Expired leases and old starts need no write, because each reader ignores them.
  const isUnchanged = after === start && found === spilled.lane && spilled.pages.length === 0;
  return { lane: isUnchanged ? before : withoutEmptyFair(after), granted, tells, time };
}

/** Applies changes to a lane, then grants free slots to its line. Starts over after each read, because time passes. */
export async function applyChanges(
  { store, now }: { readonly store: LaneStore; readonly now: () => number },
  key: LaneKey,
  before: Lane,
  spilled: Spilled,
  changes: readonly PendingChange[],
  ticket: string,
): Promise<Applied> {
  const rows = new LineRows(key, store, spilled);
  for (;;) {
    const done = applied(before, spilled, changes, now(), ticket, rows);
    if (done.unread === undefined) return done;
    await rows.read(done.unread);
  }
}
