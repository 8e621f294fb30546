import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { dayMs, epochSeconds } from '../shared/clock.ts';
import { settings } from '../aws/settings.ts';
import { claiming } from '../table/claim.ts';
import { conditionalWrite, dynamodb, toItem } from '../aws/dynamodb.ts';
import { isId } from '../table/shards.ts';
import { keyOf } from './rows.ts';

/** The row of a dead letter stays this long after it was taken out: an attempt of its message cannot come back later. */
const removedRowMs = 2 * dayMs;

/** The reason why a dead letter was taken out: its owner deleted it, it was sent again, or others took its place. */
export type Removal = 'deleted' | 'sent' | 'trimmed';

/**
 * Takes a dead letter out. Its row stays for a while, marked as removed, so that the dead letter is not written again.
 *
 * @returns false when it was not there any more
 */
export async function removeDeadLetter(
  accountId: string,
  dlqId: string,
  now: number,
  reason: Removal,
): Promise<boolean> {
  if (!isId('dlq', dlqId)) return false;
  const removal = randomUUID();
  const { isMade, row } = await conditionalWrite(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.dlqTable,
        Key: toItem(keyOf(accountId, dlqId)),
        UpdateExpression:
          'SET removedAt = :now, removedAs = :reason, removal = :removal, expiresAt = :end REMOVE presentSince',
        ConditionExpression: 'attribute_exists(id) AND attribute_not_exists(removedAt)',
        ExpressionAttributeValues: toItem({
          ':removal': removal,
          ':now': now,
          ':reason': reason,
          ':end': epochSeconds(now + removedRowMs),
        }),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  );
  // The SDK tries again when an answer is lost, and then finds its own removal.
  return isMade || row?.['removal'] === removal;
}

interface DeadLetterClaim {
  /** Unix milliseconds. */
  readonly now: number;
  /** Unix milliseconds; the process of a claim of this time or before has died. */
  readonly endedBy: number;
  /** The id of the new message or run. The first claim notes it; later ones leave it. */
  readonly retryId?: string | undefined;
}

/**
 * Claims a dead letter that has not been taken out, for one process to go on from it.
 *
 * @returns whether this claim was made, and the row as it is after that
 */
export const claimDeadLetter = (
  accountId: string,
  dlqId: string,
  { now, endedBy, retryId }: DeadLetterClaim,
) =>
  conditionalWrite(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.dlqTable,
        Key: toItem(keyOf(accountId, dlqId)),
        UpdateExpression: `SET ${retryId === undefined ? '' : 'retryId = if_not_exists(retryId, :id), '}retriedAt = :now`,
        ReturnValues: 'ALL_NEW',
        ...claiming({
          attribute: 'retriedAt',
          endedBy,
          onlyIf: 'attribute_exists(id) AND attribute_not_exists(removedAt)',
          values: { ':now': now, ':id': retryId },
        }),
      }),
    ),
  );

/**
 * The result of a claim: the dead letter is `ours` to send again; or it was `sent` before, under this id; or it is `theirs`,
 * sent by another process at this moment; or it is `gone`.
 */
export type RetryClaim =
  | { readonly state: 'ours' | 'sent'; readonly retryId: string }
  | { readonly state: 'theirs' | 'gone' };

const claimedRow = z.object({
  retryId: z.optional(z.string()),
  removedAt: z.optional(z.number()),
  removedAs: z.optional(z.string()),
});

/**
 * Claims a dead letter, to send it again. The first claim decides on the id of the new message: where its process dies,
 * the next sends that same message.
 */
export async function claimRetry(
  accountId: string,
  dlqId: string,
  claim: DeadLetterClaim & { readonly retryId: string },
): Promise<RetryClaim> {
  const { isMade, row } = await claimDeadLetter(accountId, dlqId, claim);
  const { retryId, removedAt, removedAs } = claimedRow.parse(row ?? {});
  if (isMade) return { state: 'ours', retryId: retryId ?? claim.retryId };
  if (removedAs === 'sent' && retryId !== undefined) return { state: 'sent', retryId };
  return { state: row === undefined || removedAt !== undefined ? 'gone' : 'theirs' };
}
