import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { namePattern } from '../domain/names.ts';
import type { Queue } from '../domain/queue.ts';
import { settings } from '../settings.ts';
import { dynamodb, getRow, rowsOf, toItem, unchanged, unlessRefused } from './dynamodb.ts';

const queueRow = z.object({
  accountId: z.string(),
  name: z.string(),
  parallelism: z.number(),
  createdAt: z.number(),
  updatedAt: z.number(),
  version: z.number(),
});

export async function loadQueue(accountId: string, name: string): Promise<Queue | undefined> {
  // What can be no name is not asked for: DynamoDB refuses keys that are empty or too long.
  if (!namePattern.test(name)) return undefined;
  const row = await getRow(settings.queuesTable, { accountId, name }, true);
  return row && queueRow.parse(row);
}

/** All queues of an account, by name. */
export async function listQueues(accountId: string): Promise<readonly Queue[]> {
  const queues: Queue[] = [];
  for await (const row of rowsOf(settings.queuesTable, 'accountId', accountId))
    queues.push(queueRow.parse(row));
  return queues;
}

/**
 * Writes a queue on the outcome of what was read of it.
 *
 * @param readVersion undefined when there was no queue
 * @returns false when somebody else changed it meanwhile; nothing is written then
 */
export const saveQueue = (queue: Queue, readVersion: number | undefined): Promise<boolean> =>
  unlessRefused(
    dynamodb.send(
      new PutItemCommand({
        TableName: settings.queuesTable,
        Item: toItem(queue),
        ...unchanged(readVersion),
      }),
    ),
  );

/** @returns false when there is none */
export async function deleteQueue(accountId: string, name: string): Promise<boolean> {
  if (!namePattern.test(name)) return false;
  return unlessRefused(
    dynamodb.send(
      new DeleteItemCommand({
        TableName: settings.queuesTable,
        Key: toItem({ accountId, name }),
        ConditionExpression: 'attribute_exists(accountId)',
      }),
    ),
  );
}
