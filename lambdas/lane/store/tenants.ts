/** The rows of tenants, in their lane's partition. */
import * as z from 'zod/mini';
import { getRows, type Row } from '../../aws/dynamodb.ts';
import { settings } from '../../aws/settings.ts';
import { epochSeconds, now } from '../../shared/clock.ts';
import { eachOf } from '../../shared/lists.ts';
import type { LaneKey } from '../lane.ts';
import type { Tenant } from '../rules/fairLine.ts';
import { rowOfTenant, tenantOf, tenantShape } from './fairRows.ts';
import { laneId, pageLifetimeMs } from './laneRows.ts';
import { put } from '../../aws/writes.ts';

export const partsBegin = (fairId: string): string => `fair#${fairId}#tenant#`;

export const tenantKey = (lane: LaneKey, fairId: string, name: string) => ({
  lane: laneId(lane),
  part: partsBegin(fairId) + name,
});

const tenantRow = z.object({ part: z.string(), at: z.number(), ...tenantShape });

export interface StoredTenant {
  readonly name: string;
  readonly tenant: Tenant;
  /** The lane's version when the tenant left the lane's row. */
  readonly at: number;
}

export function storedTenant(fairId: string, row: Row): StoredTenant {
  const { part, at, ...tenant } = tenantRow.parse(row);
  return { name: part.slice(partsBegin(fairId).length), tenant: tenantOf(tenant), at };
}

export async function loadTenants(
  lane: LaneKey,
  fairId: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, Tenant>> {
  const keys = names.map((name) => tenantKey(lane, fairId, name));
  const rows = await getRows(settings.lanesTable, keys, { ConsistentRead: true });
  return new Map(rows.map((row) => storedTenant(fairId, row)).map(({ name, tenant }) => [name, tenant]));
}

const writesAtOnce = 20;

/**
 * Writes tenants from a lane's row, unless their row is at least as new.
 *
 * @param at the lane's version
 */
export const saveTenants = (
  lane: LaneKey,
  fairId: string,
  at: number,
  tenants: ReadonlyMap<string, Tenant>,
): Promise<void> =>
  eachOf([...tenants], writesAtOnce, async ([name, tenant]) => {
    const expiresAt = epochSeconds(now() + pageLifetimeMs);
    await put(
      settings.lanesTable,
      { ...tenantKey(lane, fairId, name), ...rowOfTenant(tenant), at, expiresAt },
      { onlyIf: 'attribute_not_exists(part) OR #at < :at', values: { at } },
    );
  });
