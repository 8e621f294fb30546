import * as z from 'zod/mini';
import { dayMs, epochSeconds } from '../shared/clock.ts';
import type { Usage } from './usage.ts';
import { settings } from '../aws/settings.ts';
import { dynamodbIn, queryRows, toItem, type Row } from '../aws/dynamodb.ts';
import { update } from '../aws/writes.ts';

const counted = [
  'requests',
  'messages',
  'calls',
  'hooks',
  'bytes',
] as const satisfies readonly (keyof Usage)[];

const usageRow = z.object({
  id: z.string(),
  requests: z._default(z.number(), 0),
  messages: z._default(z.number(), 0),
  calls: z._default(z.number(), 0),
  hooks: z._default(z.number(), 0),
  bytes: z._default(z.number(), 0),
});

/** The attribute in a day's row for the messages of an hour: `h0` to `h23`. */
export const hourAttribute = (hour: number): string => `h${hour}`;

/** How long a day is kept: statistics cover a year. */
const keptMs = 400 * dayMs;

/** @param day as `2026-11-20`, UTC */
const keyOf = (accountId: string, day: string): { readonly owner: string; readonly id: string } => ({
  owner: accountId,
  id: `day#${day}`,
});

/**
 * Adds to an account's usage of a day.
 *
 * @param hour 0 to 23, UTC; the same row counts the hour's messages at no extra cost
 * @returns the total of the day so far
 */
export async function addUsage(accountId: string, day: string, hour: number, usage: Usage): Promise<Usage> {
  const { row } = await update(
    settings.usageTable,
    keyOf(accountId, day),
    `ADD ${counted.map((name) => `#${name} :${name}`).join(', ')}, ${hourAttribute(hour)} :messages SET expiresAt = :expiresAt`,
    {
      values: {
        ...Object.fromEntries(counted.map((name) => [name, usage[name]])),
        expiresAt: epochSeconds(Date.parse(day) + keptMs),
      },
      returns: 'ALL_NEW',
    },
  );
  return usageRow.parse(row);
}

/**
 * Reads the rows of an account's days.
 *
 * @param first as `2026-11-20`
 * @param last need not exist: `2026-11-31` is the end of any November
 * @param region the account's region
 */
export const usageRows = (
  accountId: string,
  first: string,
  last: string,
  region: string = settings.region,
): AsyncGenerator<Row> =>
  queryRows(
    {
      TableName: settings.usageTable,
      ConsistentRead: true,
      KeyConditionExpression: '#owner = :owner AND id BETWEEN :first AND :last',
      ExpressionAttributeNames: { '#owner': 'owner' },
      ExpressionAttributeValues: toItem({
        ':owner': accountId,
        ':first': keyOf(accountId, first).id,
        ':last': keyOf(accountId, last).id,
      }),
    },
    dynamodbIn(region),
  );

export function dayOfRow(row: Row): readonly [day: string, usage: Usage] {
  const { id, ...counts } = usageRow.parse(row);
  return [id.replace('day#', ''), counts];
}

export async function usageOf(...days: Parameters<typeof usageRows>): Promise<ReadonlyMap<string, Usage>> {
  const usage = new Map<string, Usage>();
  for await (const row of usageRows(...days)) usage.set(...dayOfRow(row));
  return usage;
}
