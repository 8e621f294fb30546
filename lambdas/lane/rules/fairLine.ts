/**
 * The waiting line of a lane in which messages with a fair key or a priority wait: a round robin of tenants. A tenant is all that
 * have one fair key; those without a key are a tenant too, whose name is empty. Each tenant has a line for each priority, and is in
 * the ring once while any of its entries waits. A message with neither key nor priority stays in the lane's own line (`line.ts`),
 * which is the normal line of the tenant without a name.
 *
 * The lane's row has the ring's two ends, and the tenants that were changed last. All others have rows of their own. A tenant's row
 * is written before the lane's row leaves the tenant out, and never over a newer one. So the lane's row, or else the tenant's own,
 * says how the tenant is, and a lane is still changed by one conditional write.
 */
import type { Priority } from '../../value/turn.ts';
import { emptyLine, type Line } from './line.ts';

export interface Tenant {
  readonly lines: Readonly<Record<Priority, Line>>;
  /** Starts in a row that overtook an entry of lower priority. */
  readonly overtakes: number;
  readonly isInRing: boolean;
}

/** A place in one of the lines of a tenant. */
export interface TenantPlace {
  readonly name: string;
  readonly priority: Priority;
}

/** An entry that joins a line, or leaves it, with the change of the lane that is being made. */
export type Asked = TenantPlace & { readonly entry: string; readonly leaves: boolean };

export interface FairLine {
  /** Begins the keys of its rows: no other line of the lane ever has the same. Empty before the first write. */
  readonly id: string;
  /** Names of tenants: the first has the next turn. */
  readonly ring: Line;
  /** Entries that lost their slot through no fault of their own, and are next. */
  readonly first: readonly string[];
  /** Entries that wait, without those in the lane's own line. */
  readonly waiting: number;
  /** The tenants that were changed last, the latest at the end. */
  readonly tenants: ReadonlyMap<string, Tenant>;
  /** Empty in the table. */
  readonly asked: readonly Asked[];
}

export const newTenant: Tenant = {
  lines: { high: emptyLine, normal: emptyLine, low: emptyLine },
  overtakes: 0,
  isInRing: false,
};

/** The tenant of messages without a fair key. It stays in the lane's row. */
export const unnamed = '';

const newFairLine: FairLine = {
  id: '',
  ring: emptyLine,
  first: [],
  waiting: 0,
  tenants: new Map([[unnamed, newTenant]]),
  asked: [],
};

/** Notes that an entry joins. It waits from then on, and has its place once the tenant is read. */
export const askToJoin = (fair: FairLine = newFairLine, place: TenantPlace, entry: string): FairLine => ({
  ...fair,
  asked: [...fair.asked, { ...place, entry, leaves: false }],
});

/** Notes that an entry leaves. */
export const askToLeave = (fair: FairLine, place: TenantPlace, entry: string): FairLine => ({
  ...fair,
  asked: [...fair.asked, { ...place, entry, leaves: true }],
});

/** Puts an entry before all others, as `rejoin` of `line.ts`. */
export const rejoinFair = (fair: FairLine, entry: string): FairLine => ({
  ...fair,
  first: [entry, ...fair.first],
  waiting: fair.waiting + 1,
});
