import { ConditionalCheckFailedException, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { epochSeconds } from '../domain/message.ts';
import { settings } from '../settings.ts';
import { dynamodb, toItem } from './dynamodb.ts';

const claimRow = z.object({ messageId: z.string() });

/**
 * Claims a key for a message for as long as a window lasts.
 *
 * @param replaces a message whose claim counts for nothing, because it was not accepted
 * @returns the message that has the key: this one, or the one that was first
 */
export async function claimKey(claim: {
  readonly key: string;
  readonly messageId: string;
  /** Unix milliseconds. */
  readonly now: number;
  readonly until: number;
  readonly replaces?: string | undefined;
}): Promise<string> {
  const { key, messageId, now, until, replaces } = claim;
  try {
    await dynamodb.send(
      new PutItemCommand({
        TableName: settings.deduplicationTable,
        Item: toItem({ id: key, messageId, until, expiresAt: epochSeconds(until) }),
        ConditionExpression: 'attribute_not_exists(id) OR #until <= :now OR messageId = :replaced',
        ExpressionAttributeNames: { '#until': 'until' },
        ExpressionAttributeValues: { ':now': { N: String(now) }, ':replaced': { S: replaces ?? messageId } },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return messageId;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException) || error.Item === undefined) throw error;
    return claimRow.parse(unmarshall(error.Item)).messageId;
  }
}
