import * as z from 'zod/mini';
import { dayMs, epochSeconds } from '../../shared/clock.ts';
import type { OutcomeCounts, PerOutcome } from '../outcomes.ts';
import { shownDays } from '../rules/shownPeriod.ts';
import { settings } from '../../aws/settings.ts';
import { getRow } from '../../aws/dynamodb.ts';
import { put, unlessRefused, ifNew } from '../../aws/writes.ts';

export interface KeptOutcomes {
  readonly counts: OutcomeCounts;
  /** Up to when each shard of the log is counted, in the order of shards. */
  readonly countedUntil: readonly number[];
  /** Incremented by each change; 0 if nothing was counted yet. */
  readonly version: number;
}

const counts = z.record(z.string(), z.tuple([z.number(), z.number(), z.number()]));
const outcomesRow = z.object({
  steps: counts,
  hours: counts,
  days: counts,
  retries: z.record(z.string(), z.number()),
  countedUntil: z.array(z.number()),
  version: z.number(),
});

/** A list of three numbers takes a third of the space of three named attributes. */
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
 * Reads the counts, by default eventually consistent. If they are older, more of the log is read, and the
 * sums are the same.
 *
 * @returns undefined if all counts are too old to be shown
 */
export async function loadOutcomes(
  accountId: string,
  consistent = false,
  region?: string,
): Promise<KeptOutcomes | undefined> {
  const row = await getRow(settings.usageTable, keyOf(accountId), consistent, region);
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
 * Replaces the counts that were read.
 *
 * @returns false, without a change, if another process has changed them
 */
export function saveOutcomes(
  accountId: string,
  { counts: { steps, hours, days, retries }, countedUntil, version }: KeptOutcomes,
  now: number,
): Promise<boolean> {
  return unlessRefused(
    put(
      settings.usageTable,
      {
        ...keyOf(accountId),
        steps: toRow(steps),
        hours: toRow(hours),
        days: toRow(days),
        retries: Object.fromEntries(retries),
        countedUntil,
        version: version + 1,
        // When all of these counts are too old to be shown.
        expiresAt: epochSeconds(now + (shownDays + 1) * dayMs),
      },
      version === 0 ? ifNew : { onlyIf: 'version = :version', values: { version } },
    ),
  );
}
