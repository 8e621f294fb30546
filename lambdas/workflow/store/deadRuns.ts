/** The run that goes on from a dead letter of a run: one is chosen, however many processes try. */
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { rerunKinds, type RerunKind } from '../rules/resuming.ts';
import { settings } from '../../aws/settings.ts';
import { conditionalWrite, dynamodb, getRow, toItem, type Row } from '../../aws/dynamodb.ts';
import { isId } from '../../table/shards.ts';
import { keyOf } from '../../deadLetter/rows.ts';
import { claimDeadLetter } from '../../deadLetter/claims.ts';

const rerunRow = z.object({
  retryId: z.optional(z.string()),
  retryKind: z.optional(z.enum(rerunKinds)),
  removedAt: z.optional(z.number()),
  removedAs: z.optional(z.string()),
});

/** The id of the run that went on from a dead letter that has left the queue since; undefined where there is none. */
function rerunOf(row: Row | undefined, kind?: RerunKind): string | undefined {
  const { retryId, retryKind, removedAs } = rerunRow.parse(row ?? {});
  return removedAs === 'sent' && (kind ?? retryKind) === retryKind ? retryId : undefined;
}

/**
 * Finds the run that went on from a dead letter that has left the queue since: for two days a repeated request gets its id.
 *
 * @param kind the kind of the request: for another kind the dead letter is gone
 */
export async function findRerun(
  accountId: string,
  dlqId: string,
  kind: RerunKind,
): Promise<string | undefined> {
  if (!isId('dlq', dlqId)) return undefined;
  return rerunOf(await getRow(settings.dlqTable, keyOf(accountId, dlqId), true), kind);
}

/** Reads the run that a dead letter has chosen, while the dead letter is still in the queue. */
export async function chosenRun(accountId: string, dlqId: string): Promise<string | undefined> {
  const row = await getRow(settings.dlqTable, keyOf(accountId, dlqId), true);
  const { retryId, removedAt } = rerunRow.parse(row ?? {});
  return removedAt === undefined ? retryId : undefined;
}

/**
 * The result of a claim: the dead letter is `ours` to go on from, and `runId` names the run that an earlier process chose and
 * may not have sent; or another run has gone on from it (`done`); or another process has claimed it (`theirs`); or it is `gone`.
 */
export type RunClaim =
  | { readonly state: 'ours'; readonly runId: string | undefined }
  | { readonly state: 'done'; readonly runId: string }
  | { readonly state: 'theirs' | 'gone' };

/** Claims the dead letter of a run, to go on from it; see {@link claimDeadLetter}. */
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
 * Chooses the run that goes on from a dead letter. The run was stored whole before, under an id that no other process knows: of
 * several runs, made by processes that took each other for dead, the first is chosen.
 *
 * @returns the id of the chosen run; undefined when the dead letter has left the queue without a run
 */
export async function chooseRun(
  accountId: string,
  dlqId: string,
  { runId, kind }: { readonly runId: string; readonly kind: RerunKind },
): Promise<string | undefined> {
  const { isMade, row } = await conditionalWrite(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.dlqTable,
        Key: toItem(keyOf(accountId, dlqId)),
        UpdateExpression:
          'SET retryId = if_not_exists(retryId, :id), retryKind = if_not_exists(retryKind, :kind)',
        ConditionExpression: 'attribute_exists(id) AND attribute_not_exists(removedAt)',
        ExpressionAttributeValues: toItem({ ':id': runId, ':kind': kind }),
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  );
  return isMade ? rerunRow.parse(row).retryId : rerunOf(row);
}
