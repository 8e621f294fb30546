import * as z from 'zod/mini';
import { epochSeconds, isAhead } from '../../shared/clock.ts';
import { settings } from '../../aws/settings.ts';
import { claiming } from '../../table/claim.ts';
import { put, update, remove, unlessRefused } from '../../aws/writes.ts';

const claimRow = z.object({
  messageId: z.string(),
  claimedAt: z.number(),
  until: z.number(),
  isAccepted: z.optional(z.boolean()),
});

/** A key's message, and whether it is accepted. */
interface KeyClaim {
  readonly messageId: string;
  /** When the key was claimed, or the claim renewed by another publisher. */
  readonly claimedAt: number;
  /** Whether the message will be delivered. Otherwise its publisher is still working, or has died. */
  readonly isAccepted: boolean;
}

interface NewClaim {
  readonly key: string;
  readonly messageId: string;
  readonly now: number;
  /** When messages stop being duplicates. */
  readonly until: number;
}

const rowOf = ({ key, messageId, now, until }: NewClaim) => ({
  id: key,
  messageId,
  claimedAt: now,
  until,
  expiresAt: epochSeconds(until),
});

/**
 * @param claim with times
 * @returns the valid claim: this one or an earlier one
 */
export async function claimKey(claim: NewClaim): Promise<KeyClaim> {
  const { messageId, now } = claim;
  const { isMade, row } = await put(
    settings.deduplicationTable,
    rowOf(claim),
    claiming({ attribute: 'until', endedBy: now, isEnd: true }),
  );
  if (isMade) return { messageId, claimedAt: now, isAccepted: false };
  const { isAccepted = false, until, ...rest } = claimRow.parse(row);
  // The clock has stepped back since the claim, so its window begins now.
  if (isAhead(until, claim.until)) await note(claim.key, rest.messageId, 'until', claim.until);
  return { ...rest, isAccepted };
}

/**
 * Claims the key of a message that ended undelivered.
 *
 * @param before the id of that message
 * @returns false if another publisher was faster
 */
export const claimAfter = (claim: NewClaim, before: string): Promise<boolean> =>
  unlessRefused(
    put(settings.deduplicationTable, rowOf(claim), { onlyIf: 'messageId = :before', values: { before } }),
  );

/** @returns false if the message no longer has the key */
const note = (key: string, messageId: string, name: string, value: unknown): Promise<boolean> =>
  unlessRefused(
    update(settings.deduplicationTable, { id: key }, 'SET #name = :value', {
      onlyIf: 'messageId = :id',
      values: { id: messageId, value },
      names: { name },
    }),
  );

/** @returns false if the message no longer has the key */
export const markAccepted = (key: string, messageId: string): Promise<boolean> =>
  note(key, messageId, 'isAccepted', true);

/**
 * Takes over the claim of a publisher that has died.
 *
 * @param claim with times; claims made at `endedBy` or before have expired
 * @returns false if the first message was accepted or given up, or another publisher was faster
 */
export const takeOver = (claim: {
  readonly key: string;
  readonly messageId: string;
  readonly now: number;
  readonly endedBy: number;
}): Promise<boolean> =>
  unlessRefused(
    update(
      settings.deduplicationTable,
      { id: claim.key },
      'SET isTakenOver = :true, #claim = :now',
      claiming({
        attribute: 'claimedAt',
        endedBy: claim.endedBy,
        onlyIf: 'messageId = :id AND attribute_not_exists(isAccepted)',
        values: { id: claim.messageId, now: claim.now, true: true },
      }),
    ),
  );

/** @returns false if another publisher took over the message, or the claim expired */
export const releaseKey = (key: string, messageId: string): Promise<boolean> =>
  unlessRefused(
    remove(
      settings.deduplicationTable,
      { id: key },
      { onlyIf: 'messageId = :id AND attribute_not_exists(isTakenOver)', values: { id: messageId } },
    ),
  );
