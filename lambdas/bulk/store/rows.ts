/** The rows of an account's bulk operations, a partition of the usage table. */
import * as z from 'zod/mini';
import { getRow, queryRows } from '../../aws/dynamodb.ts';
import { retryOnConflict } from '../../aws/retryOnConflict.ts';
import { settings } from '../../aws/settings.ts';
import { ifNew, put, remove, type Terms } from '../../aws/writes.ts';
import type { Readable } from '../../options/option.ts';
import { dayMs, epochSeconds, now } from '../../shared/clock.ts';
import { config, headerPairs } from '../../table/attributes.ts';
import { isId } from '../../table/shards.ts';
import { bulk } from '../../wire/bulkAnswers.ts';

const bulkShape = z.object({
  ...bulk.shape,
  query: headerPairs,
  prefix: z.string(),
  config,
  host: z.string(),
  /** The number of the step. A job for another step does nothing. */
  step: z.number(),
  ids: z.array(z.string()),
  /** Where to continue in the list after these entries; undefined at its beginning. */
  behind: z.optional(z.object({ time: z.number(), id: z.string() })),
  isRead: z.boolean(),
  begun: z.optional(z.string()),
  /**
   * When the entries were first tried, later than `createdAt`. Ids of new messages or runs are derived from
   * it.
   */
  begunAt: z.optional(z.number()),
  /** The try that ended the previous step. */
  ended: z.optional(z.string()),
  /** Incremented by each change. */
  version: z.number(),
});
export type Bulk = Readable<z.infer<typeof bulkShape>>;

const keptMs = 30 * dayMs;
const mostListed = 50;

const ownerOf = (accountId: string): string => `bulk#${accountId}`;
const keyOf = (accountId: string, bulkId: string) => ({ owner: ownerOf(accountId), id: bulkId });

async function loadBulk(accountId: string, bulkId: string): Promise<Bulk | undefined> {
  if (!isId('blk', bulkId)) return undefined;
  const row = await getRow(settings.usageTable, keyOf(accountId, bulkId), true);
  return row && bulkShape.parse(row);
}

/** The newest, strongly consistent. */
export async function listBulks(accountId: string): Promise<readonly Bulk[]> {
  const found: Bulk[] = [];
  const query = {
    TableName: settings.usageTable,
    ConsistentRead: true,
    KeyConditionExpression: '#owner = :owner',
    ExpressionAttributeNames: { '#owner': 'owner' },
    ExpressionAttributeValues: { ':owner': { S: ownerOf(accountId) } },
    ScanIndexForward: false,
    Limit: mostListed,
  };
  for await (const row of queryRows(query)) if (found.push(bulkShape.parse(row)) === mostListed) break;
  return found;
}

export const putBulk = (accountId: string, one: Bulk, terms: Terms = ifNew) =>
  put(
    settings.usageTable,
    {
      ...one,
      ...keyOf(accountId, one.bulkId),
      config: [...one.config],
      expiresAt: epochSeconds(one.changedAt + keptMs),
    },
    terms,
  );

export const removeBulk = (accountId: string, bulkId: string) =>
  remove(settings.usageTable, keyOf(accountId, bulkId));

/**
 * @param changesOf returns undefined for no change
 * @returns the row before, and whether it was changed; undefined if there is none
 * @throws HttpError 503 if others were faster for 15 s
 */
export const changeBulk = (
  accountId: string,
  bulkId: string,
  changesOf: (before: Bulk) => Partial<Bulk> | undefined,
) =>
  retryOnConflict(`${bulkId} is being changed by many at once; send the request again.`, async () => {
    const before = await loadBulk(accountId, bulkId);
    const changes = before && changesOf(before);
    if (before === undefined || changes === undefined) return { before, after: undefined };
    const { version } = before;
    const after = { ...before, ...changes, changedAt: now(), version: version + 1 };
    const terms = { onlyIf: '#version = :version', values: { version } };
    return (await putBulk(accountId, after, terms)).isMade ? { before, after } : undefined;
  });
