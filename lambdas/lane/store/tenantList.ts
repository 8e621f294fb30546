import { queryRows, toItem } from '../../aws/dynamodb.ts';
import { settings } from '../../aws/settings.ts';
import { epochSeconds, now } from '../../shared/clock.ts';
import type { LaneKey } from '../lane.ts';
import { laneId, pageLifetimeMs } from './laneRows.ts';
import { partsBegin, storedTenant, tenantKey, type StoredTenant } from './tenants.ts';
import { update, unlessRefused } from '../../aws/writes.ts';

/** A key that sorts after those of all tenants. */
const partsEnd = (fairId: string): string => `fair#${fairId}#tenant$`;

/** Extends the lifetime of a tenant's row, unless the row was written since it was read. */
export const extendTenant = (lane: LaneKey, fairId: string, { name, at }: StoredTenant): Promise<unknown> =>
  unlessRefused(
    update(settings.lanesTable, tenantKey(lane, fairId, name), 'SET expiresAt = :expiresAt', {
      onlyIf: '#at = :at',
      values: { at, expiresAt: epochSeconds(now() + pageLifetimeMs) },
    }),
  );

/** Reads a fair line's tenants that have separate rows, by name as UTF-8. */
export async function* listTenants(
  lane: LaneKey,
  fairId: string,
  from: string,
): AsyncGenerator<StoredTenant> {
  const rows = queryRows({
    TableName: settings.lanesTable,
    ConsistentRead: true,
    KeyConditionExpression: 'lane = :lane AND part BETWEEN :from AND :end',
    ExpressionAttributeValues: toItem({
      ':lane': laneId(lane),
      ':from': partsBegin(fairId) + from,
      ':end': partsEnd(fairId),
    }),
  });
  for await (const row of rows) yield storedTenant(fairId, row);
}
