import type { LaneKey } from '../lane.ts';
import type { FairLine, Tenant } from '../rules/fairLine.ts';
import { listTenants } from '../store/tenantList.ts';
import type { StoredTenant } from '../store/tenants.ts';

/** A tenant, with `at` (a lane's version) if it was read from its separate row. */
export type FoundTenant = Pick<StoredTenant, 'name' | 'tenant'> & { readonly at?: number | undefined };

const order = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));

export async function* tenantsOf(lane: LaneKey, fair: FairLine, from = ''): AsyncGenerator<FoundTenant> {
  const inRow = [...fair.tenants]
    .filter(([name]) => order(name, from) >= 0)
    .toSorted(([one], [other]) => order(one, other))
    .map(([name, tenant]: [string, Tenant]): FoundTenant => ({ name, tenant }));
  for await (const stored of listTenants(lane, fair.id, from)) {
    while (inRow[0] !== undefined && order(inRow[0].name, stored.name) < 0) yield* inRow.splice(0, 1);
    // The lane's row has a newer state of these tenants.
    if (!fair.tenants.has(stored.name)) yield stored;
  }
  yield* inRow;
}
