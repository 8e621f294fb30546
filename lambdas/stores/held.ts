/**
 * Attempts that wait for their account: until it is served again, or has room for one more delivery. They wait here, and
 * not in the queues: in the messages table, in partitions of their own.
 */
import { DeleteItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { shardOf } from '../domain/ids.ts';
import { epochSeconds } from '../domain/message.ts';
import type { Pointer } from '../domain/pointer.ts';
import { settings } from '../settings.ts';
import { dynamodb, putAll, queryRows, toItem, unlessRefused } from './dynamodb.ts';

/** An attempt that waits for its account. */
export type HeldAttempt = Pick<Pointer, 'accountId' | 'messageId' | 'attempt'>;

const partitionOf = (shard: string): string => `held#${shard}`;

const keyOf = ({ accountId, messageId, attempt }: HeldAttempt) => ({
  shard: partitionOf(shardOf(accountId, messageId)),
  id: `${messageId}~${attempt}`,
});

const heldRow = z.object({ messageId: z.string(), attempt: z.number() });

const rowsPerPage = 25;

/**
 * @param until Unix milliseconds up to which it waits
 */
export async function putHeld(held: HeldAttempt, until: number): Promise<void> {
  const { messageId, attempt } = held;
  const row = { ...keyOf(held), messageId, attempt, expiresAt: epochSeconds(until) };
  await putAll(settings.messagesTable, [row]);
}

/**
 * Takes an attempt that waits, to let it go; whoever lets it go removes it afterwards.
 *
 * @param now Unix milliseconds
 * @param staleBefore a claim from before this moment is of a worker that died
 * @returns false when it does not wait any more, or another worker is at it
 */
export const claimHeld = (held: HeldAttempt, now: number, staleBefore: number): Promise<boolean> =>
  unlessRefused(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.messagesTable,
        Key: toItem(keyOf(held)),
        UpdateExpression: 'SET claimedAt = :now',
        ConditionExpression:
          'attribute_exists(id) AND (attribute_not_exists(claimedAt) OR claimedAt < :stale)',
        ExpressionAttributeValues: { ':now': { N: String(now) }, ':stale': { N: String(staleBefore) } },
      }),
    ),
  );

/**
 * Removes an attempt that was let go, unless it waits again already.
 *
 * @param claimedAt when it was taken
 */
export async function removeHeld(held: HeldAttempt, claimedAt: number): Promise<void> {
  await unlessRefused(
    dynamodb.send(
      new DeleteItemCommand({
        TableName: settings.messagesTable,
        Key: toItem(keyOf(held)),
        ConditionExpression: 'claimedAt = :claimedAt',
        ExpressionAttributeValues: { ':claimedAt': { N: String(claimedAt) } },
      }),
    ),
  );
}

/** The attempts that wait in one shard of an account, those of the oldest messages first. */
export async function* listHeld(accountId: string, shard: string): AsyncGenerator<HeldAttempt> {
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
