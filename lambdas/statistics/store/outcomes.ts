/** The counts of an account's outcomes: one row of the usage table. */
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { dayMs, epochSeconds } from '../../shared/clock.ts';
import type { OutcomeCounts, PerOutcome } from '../outcomes.ts';
import { shownDays } from '../rules/shownPeriod.ts';
import { settings } from '../../aws/settings.ts';
import { dynamodb, getRow, toItem, unlessRefused } from '../../aws/dynamodb.ts';

/** The outcomes that were counted, and how far. */
export interface KeptOutcomes {
  readonly counts: OutcomeCounts;
  /** Unix milliseconds up to which each shard of the log is counted, in the order of the shards. */
  readonly countedUntil: readonly number[];
  /** Raised by each change; 0 where nothing was counted yet. */
  readonly version: number;
}

const counts = z.record(z.string(), z.tuple([z.number(), z.number(), z.number()]));
const outcomesRow = z.object({
  // A row of an older release has none.
  steps: z._default(counts, {}),
  hours: counts,
  days: counts,
  // Apart from the others: an earlier release reads three numbers of a day, and no more.
  retries: z._default(z.record(z.string(), z.number()), {}),
  countedUntil: z.array(z.number()),
  version: z.number(),
});

/** Writes counts as the row has them: three numbers are a third of what three attributes with names would be. */
const toRow = <Key extends string | number>(of: ReadonlyMap<Key, PerOutcome>): z.infer<typeof counts> =>
  Object.fromEntries(
    [...of].map(([key, { delivered, failed, cancelled }]) => [String(key), [delivered, failed, cancelled]]),
  );

const fromRow = <Key>(
  row: z.infer<typeof counts>,
  keyOf: (text: string) => Key,
): ReadonlyMap<Key, PerOutcome> =>
  new Map(
    Object.entries(row).map(([key, [delivered, failed, cancelled]]) => [
      keyOf(key),
      { delivered, failed, cancelled },
    ]),
  );

const keyOf = (accountId: string) => ({ owner: accountId, id: 'outcomes' });

/**
 * Reads the counts, by default eventually consistent: after older counts, more of the log is read, and the sums are the same.
 *
 * @returns undefined where the last count is so old that all of it is past
 */
export async function loadOutcomes(accountId: string, consistent = false): Promise<KeptOutcomes | undefined> {
  const row = await getRow(settings.usageTable, keyOf(accountId), consistent);
  if (row === undefined) return undefined;
  const { steps, hours, days, retries, ...kept } = outcomesRow.parse(row);
  return {
    ...kept,
    counts: {
      steps: fromRow(steps, Number),
      hours: fromRow(hours, Number),
      days: fromRow(days, String),
      retries: new Map(Object.entries(retries)),
    },
  };
}

/**
 * Writes counts in the place of those that were read.
 *
 * @param now Unix milliseconds
 * @returns false where others have counted meanwhile; nothing is written then
 */
export function saveOutcomes(
  accountId: string,
  { counts: { steps, hours, days, retries }, countedUntil, version }: KeptOutcomes,
  now: number,
): Promise<boolean> {
  return unlessRefused(
    dynamodb.send(
      new PutItemCommand({
        TableName: settings.usageTable,
        Item: toItem({
          ...keyOf(accountId),
          steps: toRow(steps),
          hours: toRow(hours),
          days: toRow(days),
          retries: Object.fromEntries(retries),
          countedUntil,
          version: version + 1,
          // By then all counts are past.
          expiresAt: epochSeconds(now + (shownDays + 1) * dayMs),
        }),
        ConditionExpression: version === 0 ? 'attribute_not_exists(id)' : 'version = :version',
        ...(version > 0 && { ExpressionAttributeValues: { ':version': { N: String(version) } } }),
      }),
    ),
  );
}
