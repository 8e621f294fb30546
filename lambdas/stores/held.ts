/**
 * Pointers to messages whose account is suspended: they wait here, and not in the queues, until it is served again. They
 * stand in the messages table, in partitions of their own.
 */
import * as z from 'zod/mini';
import { shardOf } from '../domain/ids.ts';
import { epochSeconds } from '../domain/message.ts';
import type { Pointer } from '../domain/pointer.ts';
import { settings } from '../settings.ts';
import { deleteRow, putAll, queryRows } from './dynamodb.ts';
import { shardsOf } from './shards.ts';

/** An attempt that waits for its account. */
export type HeldAttempt = Pick<Pointer, 'accountId' | 'messageId' | 'attempt'>;

const partitionOf = (shard: string): string => `held#${shard}`;

const keyOf = ({ accountId, messageId, attempt }: HeldAttempt) => ({
  shard: partitionOf(shardOf(accountId, messageId)),
  id: `${messageId}~${attempt}`,
});

const heldRow = z.object({ messageId: z.string(), attempt: z.number() });

/**
 * @param until Unix milliseconds up to which it waits
 */
export async function putHeld(held: HeldAttempt, until: number): Promise<void> {
  const { messageId, attempt } = held;
  const row = { ...keyOf(held), messageId, attempt, expiresAt: epochSeconds(until) };
  await putAll(settings.messagesTable, [row]);
}

export const removeHeld = (held: HeldAttempt): Promise<void> =>
  deleteRow(settings.messagesTable, keyOf(held));

/** All attempts of an account that wait. */
export async function* listHeld(accountId: string): AsyncGenerator<HeldAttempt> {
  for (const shard of shardsOf(accountId)) {
    const rows = queryRows({
      TableName: settings.messagesTable,
      ConsistentRead: true,
      KeyConditionExpression: '#shard = :shard',
      ExpressionAttributeNames: { '#shard': 'shard' },
      ExpressionAttributeValues: { ':shard': { S: partitionOf(shard) } },
      Limit: rowsPerPage,
    });
    for await (const row of rows) yield { accountId, ...heldRow.parse(row) };
  }
}

/** Rows that were removed since they were read are not missed: whoever meets one a second time finds nothing to do. */
const rowsPerPage = 100;
