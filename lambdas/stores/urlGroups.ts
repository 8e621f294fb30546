import { PutItemCommand, DeleteItemCommand } from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { namePattern } from '../domain/names.ts';
import type { UrlGroup } from '../domain/urlGroup.ts';
import { settings } from '../settings.ts';
import { dynamodb, getRow, rowsOf, toItem, unchanged, unlessRefused, type Row } from './dynamodb.ts';

const groupRow = z.object({
  accountId: z.string(),
  name: z.string(),
  endpoints: z.array(z.object({ url: z.string(), name: z.optional(z.string()) })),
  defaults: z.record(z.string(), z.array(z.string())),
  createdAt: z.number(),
  updatedAt: z.number(),
  version: z.number(),
});

function groupOf(row: Row): UrlGroup {
  const { defaults, ...rest } = groupRow.parse(row);
  return { ...rest, defaults: new Map(Object.entries(defaults)) };
}

export async function loadUrlGroup(accountId: string, name: string): Promise<UrlGroup | undefined> {
  // What can be no name is not asked for: DynamoDB refuses keys that are empty or too long.
  if (!namePattern.test(name)) return undefined;
  const row = await getRow(settings.groupsTable, { accountId, name }, true);
  return row && groupOf(row);
}

/** All groups of an account, by name. */
export async function listUrlGroups(accountId: string): Promise<readonly UrlGroup[]> {
  const groups: UrlGroup[] = [];
  for await (const row of rowsOf(settings.groupsTable, 'accountId', accountId)) groups.push(groupOf(row));
  return groups;
}

/**
 * Writes a group on the outcome of what was read of it.
 *
 * @param readVersion undefined when there was no group
 * @returns false when somebody else changed it meanwhile; nothing is written then
 */
export const saveUrlGroup = (group: UrlGroup, readVersion: number | undefined): Promise<boolean> =>
  unlessRefused(
    dynamodb.send(
      new PutItemCommand({
        TableName: settings.groupsTable,
        Item: toItem({ ...group, defaults: Object.fromEntries(group.defaults) }),
        ...unchanged(readVersion),
      }),
    ),
  );

/** @returns false when somebody else changed it meanwhile */
export const deleteUrlGroup = (group: UrlGroup): Promise<boolean> =>
  unlessRefused(
    dynamodb.send(
      new DeleteItemCommand({
        TableName: settings.groupsTable,
        Key: toItem({ accountId: group.accountId, name: group.name }),
        ...unchanged(group.version),
      }),
    ),
  );
