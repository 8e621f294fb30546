import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  PutItemCommand,
  type AttributeValue,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';

/** The one client. A table answers in milliseconds; what takes seconds is a lost connection, and is tried again. */
export const dynamodb = new DynamoDBClient({
  maxAttempts: 5,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 4_000 },
});

/** An item as a table holds it, of plain values. */
export const toItem = (row: object): Record<string, AttributeValue> =>
  marshall(row, { removeUndefinedValues: true });

/**
 * Writes a row unless its key is taken.
 *
 * @returns whether it was written
 */
export async function putNew(table: string, sortKey: string, row: object): Promise<boolean> {
  try {
    await dynamodb.send(
      new PutItemCommand({
        TableName: table,
        Item: toItem(row),
        ConditionExpression: 'attribute_not_exists(#key)',
        ExpressionAttributeNames: { '#key': sortKey },
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
