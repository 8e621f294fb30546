/** Unfinished starts of jobs, in the usage table. A start is a mark in a set, so a repeated call counts once. */
import * as z from 'zod/mini';
import { dayMs, epochSeconds } from '../../shared/clock.ts';
import { startsPrefix } from '../../aws/resources.ts';
import { settings } from '../../aws/settings.ts';
import { update } from '../../aws/writes.ts';

/** Longer than SQS keeps the job's message (14 days). */
const keptMs = 15 * dayMs;

const keyOf = (job: string) => ({ owner: `${startsPrefix}${job}`, id: 'begun' });

const row = z.object({ marks: z.set(z.string()) });

/**
 * @param job a unique name
 * @param mark different for each start
 * @returns the number of recorded starts, including this one
 */
export async function noteStart(job: string, mark: string, now: number): Promise<number> {
  const outcome = await update(
    settings.usageTable,
    keyOf(job),
    'ADD marks :mark SET expiresAt = :expiresAt',
    { values: { mark: new Set([mark]), expiresAt: epochSeconds(now + keptMs) }, returns: 'ALL_NEW' },
  );
  return row.parse(outcome.row).marks.size;
}

export async function removeStarts(job: string, marks: readonly string[], now: number): Promise<void> {
  await update(settings.usageTable, keyOf(job), 'DELETE marks :marks SET expiresAt = :expiresAt', {
    values: { marks: new Set(marks), expiresAt: epochSeconds(now + keptMs) },
  });
}

export async function forgetStarts(job: string, now: number): Promise<void> {
  await update(settings.usageTable, keyOf(job), 'REMOVE marks SET expiresAt = :expiresAt', {
    values: { expiresAt: epochSeconds(now + keptMs) },
  });
}
