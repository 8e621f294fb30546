import * as z from 'zod/mini';
import { dynamodbIn, queryRows } from '../aws/dynamodb.ts';
import { settings } from '../aws/settings.ts';
import { ownerOf } from './store/snapshots.ts';

const saved = z.object({ until: z.number(), waiting: z.number() });

/** The number of waiting messages that was saved last, and when. */
export async function loadSavedCount(
  accountId: string,
  region: string,
): Promise<z.infer<typeof saved> | undefined> {
  const query = {
    TableName: settings.usageTable,
    KeyConditionExpression: '#owner = :owner AND #id = :id',
    ProjectionExpression: '#until, #waiting',
    ExpressionAttributeNames: { '#owner': 'owner', '#id': 'id', '#until': 'until', '#waiting': 'waiting' },
    ExpressionAttributeValues: { ':owner': { S: ownerOf(accountId) }, ':id': { S: '0000' } },
  };
  for await (const row of queryRows(query, dynamodbIn(region))) return saved.parse(row);
  return undefined;
}
