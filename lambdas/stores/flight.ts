/**
 * How many deliveries of an account each process may have in flight, in the usage table: a row for each process, which is a
 * lease and ends by itself.
 */
import { PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { hourMs } from '../domain/clock.ts';
import { epochSeconds } from '../domain/message.ts';
import { leasePrefix } from '../resources.ts';
import { settings } from '../settings.ts';
import { dynamodb, queryRows, toItem, unlessRefused } from './dynamodb.ts';

/** What a process may have in flight. */
export interface Lease {
  readonly processId: string;
  readonly slots: number;
  /** Unix milliseconds up to which the slots are its own. */
  readonly until: number;
}

const leaseRow = z.object({ id: z.string(), slots: z.number(), until: z.number() });

/** Writes a process's lease over the one it has. */
export async function putLease(accountId: string, { processId, slots, until }: Lease): Promise<void> {
  const row = {
    owner: accountId,
    id: leasePrefix + processId,
    slots,
    until,
    expiresAt: epochSeconds(until + hourMs),
  };
  await dynamodb.send(new PutItemCommand({ TableName: settings.usageTable, Item: toItem(row) }));
}

/** The leases of an account that hold, strongly consistent. */
export async function leasesOf(accountId: string, now: number): Promise<readonly Lease[]> {
  const rows = queryRows({
    TableName: settings.usageTable,
    ConsistentRead: true,
    KeyConditionExpression: '#owner = :owner AND begins_with(id, :prefix)',
    ExpressionAttributeNames: { '#owner': 'owner' },
    ExpressionAttributeValues: toItem({ ':owner': accountId, ':prefix': leasePrefix }),
  });
  const leases: Lease[] = [];
  for await (const row of rows) {
    const { id, slots, until } = leaseRow.parse(row);
    if (until > now) leases.push({ processId: id.slice(leasePrefix.length), slots, until });
  }
  return leases;
}

/**
 * Takes it upon oneself to have an account's line looked at by a moment.
 *
 * @param dueAt Unix milliseconds
 * @returns false when somebody else has, by now or later
 */
export const claimLook = (accountId: string, now: number, dueAt: number): Promise<boolean> =>
  unlessRefused(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.usageTable,
        Key: toItem({ owner: accountId, id: 'look' }),
        UpdateExpression: 'SET dueAt = :dueAt, expiresAt = :expiresAt',
        ConditionExpression: 'attribute_not_exists(dueAt) OR dueAt < :now',
        ExpressionAttributeValues: toItem({
          ':dueAt': dueAt,
          ':now': now,
          ':expiresAt': epochSeconds(dueAt + hourMs),
        }),
      }),
    ),
  );
