import * as z from 'zod/mini';
import { getRow } from '../../aws/dynamodb.ts';
import { settings } from '../../aws/settings.ts';
import type { Readable } from '../../options/option.ts';
import { epochSeconds } from '../../shared/clock.ts';
import type { RunKey, Snapshot } from '../rules/journal.ts';
import { put } from '../../aws/writes.ts';

const keyOf = ({ accountId, runId }: RunKey, startSeq: number) => ({
  owner: `refusal#${accountId}#${runId}`,
  id: String(startSeq),
});

const refusalRow = z.object({
  code: z.string(),
  message: z.string(),
  at: z.number(),
});
export type Refusal = Readable<z.infer<typeof refusalRow>>;

export async function putRefusal(
  key: RunKey,
  { startSeq, keptUntil }: Pick<Snapshot, 'startSeq' | 'keptUntil'>,
  refusal: Refusal,
): Promise<void> {
  const row = { ...keyOf(key, startSeq), ...refusal, expiresAt: epochSeconds(keptUntil) };
  await put(settings.workflowsTable, row);
}

export async function loadRefusal(key: RunKey, startSeq: number): Promise<Refusal | undefined> {
  const row = await getRow(settings.workflowsTable, keyOf(key, startSeq), false);
  return row && refusalRow.parse(row);
}
