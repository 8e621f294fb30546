import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { dynamodb, queryRows, toItem, unlessRefused } from '../../aws/dynamodb.ts';
import { settings } from '../../aws/settings.ts';
import { epochSeconds, now } from '../../shared/clock.ts';
import type { LaneKey } from '../lane.ts';
import { laneId, pageLifetimeMs } from './lanes.ts';
import { partsBegin, storedTenant, tenantKey, type StoredTenant } from './tenants.ts';

/** Sorts after all tenants' keys. */
const partsEnd = (fairId: string): string => `fair#${fairId}#tenant$`;

/** Extends the lifetime of a tenant's row, unless it was written since. */
export const extendTenant = (lane: LaneKey, fairId: string, { name, at }: StoredTenant): Promise<unknown> =>
  unlessRefused(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.lanesTable,
        Key: toItem(tenantKey(lane, fairId, name)),
        UpdateExpression: 'SET expiresAt = :expiresAt',
        ConditionExpression: '#at = :at',
        ExpressionAttributeNames: { '#at': 'at' },
        ExpressionAttributeValues: toItem({ ':at': at, ':expiresAt': epochSeconds(now() + pageLifetimeMs) }),
      }),
    ),
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
