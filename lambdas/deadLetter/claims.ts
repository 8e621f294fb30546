import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { dayMs, epochSeconds } from '../shared/clock.ts';
import { settings } from '../aws/settings.ts';
import { claiming } from '../table/claim.ts';
import { isId } from '../table/shards.ts';
import { keyOf } from './rows.ts';
import { update } from '../aws/writes.ts';

/**
 * How long a removed dead letter's row is kept. After it, no attempt of the message can write the row again.
 */
const removedRowMs = 2 * dayMs;

/** Why a dead letter is gone: its owner deleted it, it was sent again, or newer ones took its place. */
export type Removal = 'deleted' | 'sent' | 'trimmed';

/**
 * Removes a dead letter. Its row is kept for a while, so that a late attempt does not write it again.
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
  // If the SDK repeated the call, its first try may have removed the dead letter.
  return isMade || row?.['removal'] === removal;
}

interface DeadLetterClaim {
  readonly now: number;
  /** Unix milliseconds. A process with a claim from before this time has died. */
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

/**
 * The result of a claim. `ours`: this process must send it. `sent`: it was sent, with this id. `theirs`:
 * another process is sending it. `gone`: it was removed.
 */
type RetryClaim =
  | { readonly state: 'ours' | 'sent'; readonly retryId: string }
  | { readonly state: 'theirs' | 'gone' };

const claimedRow = z.object({
  retryId: z.optional(z.string()),
  removedAt: z.optional(z.number()),
  removedAs: z.optional(z.string()),
});

/**
 * Claims a dead letter to send it again. The first claim sets the new message's id; a process that takes over
 * uses the same id.
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
