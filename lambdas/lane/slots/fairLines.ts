/** The changes of a lane that only fair lines need. */
import type { Lane } from '../lane.ts';
import { newTenant, unnamed, type FairLine, type Tenant } from '../rules/fairLine.ts';
import { inRing, settled, spillFair } from '../rules/tenants.ts';
import type { Unread } from '../rules/turns.ts';
import { isEmpty, spill, type Page } from '../rules/line.ts';

/** The pages and tenants that no longer fit in a lane's row, and are written before it. */
export interface Spilled {
  /** The lane without them. */
  readonly lane: Lane;
  readonly pages: readonly Page[];
  readonly tenants: ReadonlyMap<string, Tenant>;
}

/** @param lane as read from the table */
export function spillFairLane(lane: Lane, found: FairLine): Spilled {
  const { line, pages } = spill(lane.line);
  const { fair, pages: more, tenants } = spillFair(found);
  const isSame = pages.length === 0 && fair === found;
  return { lane: isSame ? lane : { ...lane, line, fair }, pages: [...pages, ...more], tenants };
}

/**
 * Places the entries that joined, removes those that left, and puts the lane's own line in the ring.
 *
 * @param id for a new fair line
 * @param tenants those that were read
 * @returns the rows to read first, if any
 */
export function settledLane(
  lane: Lane,
  found: FairLine,
  id: string,
  tenants: ReadonlyMap<string, Tenant>,
): { readonly lane: Lane; readonly unread?: undefined } | { readonly unread: Unread } {
  const isNew = found.id === '';
  const fair = withOwnLine(lane, isNew ? { ...found, id } : found);
  if (fair.asked.length === 0) return { lane: fair === found ? lane : { ...lane, fair } };
  // If this change deleted a line, the tenants that were read are those of the deleted one.
  const read: ReadonlyMap<string, Tenant> = isNew ? new Map() : tenants;
  const asked = new Set(fair.asked.map(({ name }) => name));
  const unread = [...asked].filter((name) => !fair.tenants.has(name) && !read.has(name));
  if (unread.length > 0 && !isNew) return { unread: { kind: 'tenants', fairId: fair.id, names: unread } };
  const { fair: after, cancelled } = settled(fair, (name) => read.get(name) ?? newTenant);
  return { lane: { ...lane, fair: after, cancelled: lane.cancelled + cancelled } };
}

/** Puts the lane's own line in the ring while it is not empty. */
function withOwnLine(lane: Lane, fair: FairLine): FairLine {
  const own = fair.tenants.get(unnamed) ?? newTenant;
  return isEmpty(lane.line) || own.isInRing ? fair : inRing(fair, unnamed, own);
}
