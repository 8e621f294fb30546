/**
 * The waiting line of messages with a fair key or a priority: a round robin of tenants. A tenant is all
 * messages with one fair key, or without one. Each tenant has a line for each priority, and is in the ring
 * while it has waiting entries. Messages without fair key and priority stay in the lane's own line
 * (`line.ts`), which counts as the unnamed tenant's normal line.
 *
 * The lane's row has both ends of the ring and the tenants that changed last; other tenants have separate
 * rows. A tenant's row is written before the lane's row drops the tenant, and never replaces a newer one. So
 * one conditional write of the lane's row changes a lane, and its tenants take precedence over the separate
 * rows.
 */
import type { Priority } from '../../value/turn.ts';
import { emptyLine, type Line } from './line.ts';

export interface Tenant {
  readonly lines: Readonly<Record<Priority, Line>>;
  /** How often in a row entries of a higher priority have started first. */
  readonly overtakes: number;
  readonly isInRing: boolean;
}

export interface TenantPlace {
  readonly name: string;
  readonly priority: Priority;
}

export type Asked = TenantPlace & { readonly entry: string; readonly leaves: boolean };

export interface FairLine {
  /** A unique prefix of the keys of the line's rows; empty before the first write. */
  readonly id: string;
  /** Tenant names; the first is next. */
  readonly ring: Line;
  /** Entries that lost their slot without a fault, and are next. */
  readonly first: readonly string[];
  /** The number of waiting entries, without those in the lane's own line. */
  readonly waiting: number;
  /** The tenants that changed last, the latest at the end. */
  readonly tenants: ReadonlyMap<string, Tenant>;
  /** Entries that join or leave when their tenant has been read. Empty in the table. */
  readonly asked: readonly Asked[];
}

export const newTenant: Tenant = {
  lines: { high: emptyLine, normal: emptyLine, low: emptyLine },
  overtakes: 0,
  isInRing: false,
};

/** The name of the tenant without a fair key. It is always in the lane's row. */
export const unnamed = '';

const newFairLine: FairLine = {
  id: '',
  ring: emptyLine,
  first: [],
  waiting: 0,
  tenants: new Map([[unnamed, newTenant]]),
  asked: [],
};

/** Asks for an entry to join. It gets its place after its tenant has been read. */
export const askToJoin = (fair: FairLine = newFairLine, place: TenantPlace, entry: string): FairLine => ({
  ...fair,
  asked: [...fair.asked, { ...place, entry, leaves: false }],
});

export const askToLeave = (fair: FairLine, place: TenantPlace, entry: string): FairLine => ({
  ...fair,
  asked: [...fair.asked, { ...place, entry, leaves: true }],
});

/** Puts an entry first, like `rejoin` in `line.ts`. */
export const rejoinFair = (fair: FairLine, entry: string): FairLine => ({
  ...fair,
  first: [entry, ...fair.first],
  waiting: fair.waiting + 1,
});
