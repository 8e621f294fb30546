import * as z from 'zod/mini';
import { rerunKinds, type RerunKind } from '../rules/resuming.ts';
import { settings } from '../../aws/settings.ts';
import { getRow, type Row } from '../../aws/dynamodb.ts';
import { isId } from '../../table/shards.ts';
import { keyOf } from '../../deadLetter/rows.ts';
import { claimDeadLetter } from '../../deadLetter/claims.ts';
import { update } from '../../aws/writes.ts';

const rerunRow = z.object({
  retryId: z.optional(z.string()),
  retryKind: z.optional(z.enum(rerunKinds)),
  removedAt: z.optional(z.number()),
  removedAs: z.optional(z.string()),
});

/** The run that resumed a dead letter; undefined while the dead letter is in the queue. */
function rerunOf(row: Row | undefined, kind?: RerunKind): string | undefined {
  const { retryId, retryKind, removedAs } = rerunRow.parse(row ?? {});
  return removedAs === 'sent' && (kind ?? retryKind) === retryKind ? retryId : undefined;
}

/**
 * Finds the run that resumed a dead letter, for two days.
 *
 * @param kind the kind of the request; for another kind the dead letter is gone
 */
export async function findRerun(
  accountId: string,
  dlqId: string,
  kind: RerunKind,
): Promise<string | undefined> {
  if (!isId('dlq', dlqId)) return undefined;
  return rerunOf(await getRow(settings.dlqTable, keyOf(accountId, dlqId), true), kind);
}

export async function chosenRun(accountId: string, dlqId: string): Promise<string | undefined> {
  const row = await getRow(settings.dlqTable, keyOf(accountId, dlqId), true);
  const { retryId, removedAt } = rerunRow.parse(row ?? {});
  return removedAt === undefined ? retryId : undefined;
}

/**
 * `ours`: this process may resume the run; `runId` is set if an earlier process made a run that it may not
 * have sent. `done`: another run has resumed it. `theirs`: another process has claimed it. `gone`: there is
 * no such dead letter.
 */
type RunClaim =
  | { readonly state: 'ours'; readonly runId: string | undefined }
  | { readonly state: 'done'; readonly runId: string }
  | { readonly state: 'theirs' | 'gone' };

export async function claimRun(
  accountId: string,
  dlqId: string,
  claim: { readonly now: number; readonly endedBy: number },
): Promise<RunClaim> {
  const { isMade, row } = await claimDeadLetter(accountId, dlqId, claim);
  const { retryId, removedAt } = rerunRow.parse(row ?? {});
  if (isMade) return { state: 'ours', runId: retryId };
  const runId = rerunOf(row);
  if (runId !== undefined) return { state: 'done', runId };
  return { state: row === undefined || removedAt !== undefined ? 'gone' : 'theirs' };
}

/**
 * Chooses the run that resumes a dead letter. Several processes may have made a run, because each assumed
 * that the others were dead. Then the first one is chosen.
 *
 * @returns the id of the chosen run; undefined if the dead letter left the queue without one
 */
export async function chooseRun(
  accountId: string,
  dlqId: string,
  { runId, kind }: { readonly runId: string; readonly kind: RerunKind },
): Promise<string | undefined> {
  const { isMade, row } = await update(
    settings.dlqTable,
    keyOf(accountId, dlqId),
    'SET retryId = if_not_exists(retryId, :id), retryKind = if_not_exists(retryKind, :kind)',
    {
      onlyIf: 'attribute_exists(id) AND attribute_not_exists(removedAt)',
      values: { id: runId, kind },
      returns: 'ALL_NEW',
    },
  );
  return isMade ? rerunRow.parse(row).retryId : rerunOf(row);
}
