/**
 * How many deliveries of an account each process may have in flight, in the usage table: a row for each process, which is a
 * lease and ends by itself.
 */
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { hourMs } from '../domain/clock.ts';
import { epochSeconds } from '../domain/message.ts';
import { leasePrefix } from '../resources.ts';
import { settings } from '../settings.ts';
import { deleteRow, dynamodb, getRow, queryRows, toItem } from './dynamodb.ts';

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

/** Removes a process's lease. */
export const removeLease = (accountId: string, processId: string): Promise<void> =>
  deleteRow(settings.usageTable, { owner: accountId, id: leasePrefix + processId });

/** The leases of an account, those that have ended included, strongly consistent. */
export async function leasesOf(accountId: string): Promise<readonly Lease[]> {
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
    leases.push({ processId: id.slice(leasePrefix.length), slots, until });
  }
  return leases;
}

const lookKey = (accountId: string) => ({ owner: accountId, id: 'look' });

/**
 * Whether a look at an account's line has been asked for that is still to come. Asked first and noted afterwards, one may
 * be asked for twice, but none is noted that never comes.
 *
 * @param now Unix milliseconds
 */
export async function isLookDue(accountId: string, now: number): Promise<boolean> {
  const row = await getRow(settings.usageTable, lookKey(accountId), true);
  return row !== undefined && lookRow.parse(row).dueAt > now;
}

/** @param dueAt Unix milliseconds */
export async function noteLook(accountId: string, dueAt: number): Promise<void> {
  const row = { ...lookKey(accountId), dueAt, expiresAt: epochSeconds(dueAt + hourMs) };
  await dynamodb.send(new PutItemCommand({ TableName: settings.usageTable, Item: toItem(row) }));
}

const lookRow = z.object({ dueAt: z.number() });
