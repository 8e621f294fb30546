import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { dayMs, epochSeconds } from '../shared/clock.ts';
import { settings } from '../aws/settings.ts';
import { claiming } from '../table/claim.ts';
import { isId } from '../table/shards.ts';
import { keyOf } from './rows.ts';
import { update } from '../aws/writes.ts';

/** No attempt of its message can write the row again later. */
const removedRowMs = 2 * dayMs;

/** Deleted by its owner, sent again, or replaced by newer ones. */
export type Removal = 'deleted' | 'sent' | 'trimmed';

/**
 * Removes a dead letter. Its row stays for a while, so that it is not written again.
 *
 * @returns false if it was gone
 */
export async function removeDeadLetter(
  accountId: string,
  dlqId: string,
  now: number,
  reason: Removal,
): Promise<boolean> {
  if (!isId('dlq', dlqId)) return false;
  const removal = randomUUID();
  const { isMade, row } = await update(
    settings.dlqTable,
    keyOf(accountId, dlqId),
    'SET removedAt = :now, removedAs = :reason, removal = :removal, expiresAt = :end REMOVE presentSince',
    {
      onlyIf: 'attribute_exists(id) AND attribute_not_exists(removedAt)',
      values: { removal, now, reason, end: epochSeconds(now + removedRowMs) },
    },
  );
  // A retry by the SDK finds its own removal.
  return isMade || row?.['removal'] === removal;
}

interface DeadLetterClaim {
  /** Unix milliseconds. */
  readonly now: number;
  /** Unix milliseconds; processes with claims up to then have died. */
  readonly endedBy: number;
  /** The id of the new message or run, set by the first claim. */
  readonly retryId?: string | undefined;
}

/** @returns whether the dead letter was claimed (not if it was removed), and the row afterwards */
export const claimDeadLetter = (
  accountId: string,
  dlqId: string,
  { now, endedBy, retryId }: DeadLetterClaim,
) =>
  update(
    settings.dlqTable,
    keyOf(accountId, dlqId),
    `SET ${retryId === undefined ? '' : 'retryId = if_not_exists(retryId, :id), '}retriedAt = :now`,
    {
      ...claiming({
        attribute: 'retriedAt',
        endedBy,
        onlyIf: 'attribute_exists(id) AND attribute_not_exists(removedAt)',
        values: { now, id: retryId },
      }),
      returns: 'ALL_NEW',
    },
  );

/** `ours` to send; `sent` before, under this id; `theirs`, being sent by another process; or `gone`. */
type RetryClaim =
  | { readonly state: 'ours' | 'sent'; readonly retryId: string }
  | { readonly state: 'theirs' | 'gone' };

const claimedRow = z.object({
  retryId: z.optional(z.string()),
  removedAt: z.optional(z.number()),
  removedAs: z.optional(z.string()),
});

/**
 * Claims a dead letter to send it again. The first claim sets the new message's id, also for another process that continues.
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
