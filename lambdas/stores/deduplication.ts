import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { epochSeconds } from '../domain/message.ts';
import { settings } from '../settings.ts';
import { dynamodb, toItem, unlessRefused } from './dynamodb.ts';

const claimRow = z.object({
  messageId: z.string(),
  claimedAt: z.number(),
  isAccepted: z.optional(z.boolean()),
});

/** Which message has a key, and how far it is. */
export interface Claim {
  readonly messageId: string;
  /** Unix milliseconds. */
  readonly claimedAt: number;
  /** It is stored and will be delivered; else it is being accepted, or its publisher died over it. */
  readonly isAccepted: boolean;
}

/**
 * Claims a key for a message for as long as a window lasts.
 *
 * @param claim its times in Unix milliseconds
 * @returns the claim that holds: this one, or the one that was first
 */
export async function claimKey(claim: {
  readonly key: string;
  readonly messageId: string;
  readonly now: number;
  readonly until: number;
}): Promise<Claim> {
  const { key, messageId, now, until } = claim;
  try {
    await dynamodb.send(
      new PutItemCommand({
        TableName: settings.deduplicationTable,
        Item: toItem({ id: key, messageId, claimedAt: now, until, expiresAt: epochSeconds(until) }),
        ConditionExpression: 'attribute_not_exists(id) OR #until <= :now',
        ExpressionAttributeNames: { '#until': 'until' },
        ExpressionAttributeValues: { ':now': { N: String(now) } },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return { messageId, claimedAt: now, isAccepted: false };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException) || error.Item === undefined) throw error;
    const { isAccepted = false, ...rest } = claimRow.parse(unmarshall(error.Item));
    return { ...rest, isAccepted };
  }
}

/** Changes the claim that a message has, if it still has it. */
const mark = (key: string, messageId: string, UpdateExpression: string): Promise<boolean> =>
  unlessRefused(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.deduplicationTable,
        Key: { id: { S: key } },
        UpdateExpression,
        ConditionExpression: 'messageId = :id',
        ExpressionAttributeValues: { ':id': { S: messageId }, ':true': { BOOL: true } },
      }),
    ),
  );

/** Says that the message that has a key is accepted. */
export const markAccepted = (key: string, messageId: string): Promise<boolean> =>
  mark(key, messageId, 'SET isAccepted = :true');

/**
 * Says that somebody else accepts a message in its publisher's place, who then cannot give it up any more.
 *
 * @returns false when it was given up before
 */
export const takeOver = (key: string, messageId: string): Promise<boolean> =>
  mark(key, messageId, 'SET isTakenOver = :true');

/**
 * Gives a key up.
 *
 * @returns false when somebody has taken the message over, or the claim has ended
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
