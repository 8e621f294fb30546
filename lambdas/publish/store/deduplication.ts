import { DeleteItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { epochSeconds } from '../../shared/clock.ts';
import { settings } from '../../aws/settings.ts';
import { claiming } from '../../table/claim.ts';
import { conditionalWrite, dynamodb, toItem, unlessRefused } from '../../aws/dynamodb.ts';

const claimRow = z.object({
  messageId: z.string(),
  claimedAt: z.number(),
  isAccepted: z.optional(z.boolean()),
});

/** The claim on a key: the message that has the key, and whether that message is accepted. */
export interface KeyClaim {
  readonly messageId: string;
  /** Unix milliseconds at which the claim was made, or was renewed by the publisher that took it over. */
  readonly claimedAt: number;
  /** Whether the message is stored and will be delivered. Otherwise it is being accepted, or its publisher has died. */
  readonly isAccepted: boolean;
}

interface NewClaim {
  readonly key: string;
  readonly messageId: string;
  /** Unix milliseconds. */
  readonly now: number;
  /** The end of the window, Unix milliseconds. */
  readonly until: number;
}

const placeOf = ({ key, messageId, now, until }: NewClaim) => ({
  TableName: settings.deduplicationTable,
  Item: toItem({ id: key, messageId, claimedAt: now, until, expiresAt: epochSeconds(until) }),
});

/**
 * Claims a key for a message for as long as a window lasts.
 *
 * @param claim with times in Unix milliseconds
 * @returns the claim that holds: this one, or the one that was first
 */
export async function claimKey(claim: NewClaim): Promise<KeyClaim> {
  const { messageId, now } = claim;
  const { isMade, row } = await conditionalWrite(
    dynamodb.send(
      new PutItemCommand({ ...placeOf(claim), ...claiming({ attribute: 'until', endedBy: now }) }),
    ),
  );
  if (isMade) return { messageId, claimedAt: now, isAccepted: false };
  const { isAccepted = false, ...rest } = claimRow.parse(row);
  return { ...rest, isAccepted };
}

/**
 * Claims a key in the place of a message that has it and has ended without being delivered.
 *
 * @param before the id of that message
 * @returns false when another publisher was sooner
 */
export const claimAfter = (claim: NewClaim, before: string): Promise<boolean> =>
  unlessRefused(
    dynamodb.send(
      new PutItemCommand({
        ...placeOf(claim),
        ConditionExpression: 'messageId = :before',
        ExpressionAttributeValues: { ':before': { S: before } },
      }),
    ),
  );

/**
 * Notes that the message that has a key is accepted.
 *
 * @returns false when the message does not have the key any more
 */
export const markAccepted = (key: string, messageId: string): Promise<boolean> =>
  unlessRefused(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.deduplicationTable,
        Key: { id: { S: key } },
        UpdateExpression: 'SET isAccepted = :true',
        ConditionExpression: 'messageId = :id',
        ExpressionAttributeValues: { ':id': { S: messageId }, ':true': { BOOL: true } },
      }),
    ),
  );

/**
 * Renews a claim that does not hold any more, for another publisher that accepts the message in the place of the first. The
 * first cannot give the key up from then on.
 *
 * @param claim with times in Unix milliseconds; a claim that was made at `endedBy` or before does not hold any more
 * @returns false when nothing was renewed: the first message was accepted or given up meanwhile, or another publisher was sooner
 */
export const takeOver = (claim: {
  readonly key: string;
  readonly messageId: string;
  readonly now: number;
  readonly endedBy: number;
}): Promise<boolean> =>
  unlessRefused(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.deduplicationTable,
        Key: { id: { S: claim.key } },
        UpdateExpression: 'SET isTakenOver = :true, #claim = :now',
        ...claiming({
          attribute: 'claimedAt',
          endedBy: claim.endedBy,
          onlyIf: 'messageId = :id AND attribute_not_exists(isAccepted)',
          values: { ':id': claim.messageId, ':now': claim.now, ':true': true },
        }),
      }),
    ),
  );

/**
 * Gives a key up.
 *
 * @returns false when another publisher has taken the message over, or the claim has ended
 */
export const releaseKey = (key: string, messageId: string): Promise<boolean> =>
  unlessRefused(
    dynamodb.send(
      new DeleteItemCommand({
        TableName: settings.deduplicationTable,
        Key: { id: { S: key } },
        ConditionExpression: 'messageId = :id AND attribute_not_exists(isTakenOver)',
        ExpressionAttributeValues: { ':id': { S: messageId } },
      }),
    ),
  );
