/**
 * The dead letter queue: a row for each message that failed for good. The row has what lists show and filter by; the
 * bodies stay with the message, whose own row outlives it.
 */
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { shardOf, timeOfId } from '../domain/ids.ts';
import { epochSeconds, type Message } from '../domain/message.ts';
import { settings } from '../settings.ts';
import { dynamodb, getRow, putNew, queryRows, toItem, unlessRefused, type Row } from './dynamodb.ts';
import { messageAttributes, messageOf } from './messages.ts';
import { idBounds, isBehind, rowsPerRead, type Ordered, type Range } from './shards.ts';

export interface DeadLetter {
  readonly dlqId: string;
  readonly message: Message;
  /** The number of the attempt that was the last. */
  readonly retried: number;
  /** Unix milliseconds. */
  readonly failedAt: number;
  readonly responseStatus: number;
  readonly responseHeaders: Readonly<Record<string, readonly string[]>>;
  readonly error?: string | undefined;
  /** The message that it is sent again as, once somebody has asked for that. */
  readonly retryId?: string | undefined;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

const dlqRow = z.object({
  id: z.string(),
  retried: z.number(),
  failedAt: z.number(),
  responseStatus: z.number(),
  responseHeaders: z.record(z.string(), z.array(z.string())),
  error: z.optional(z.string()),
  retryId: z.optional(z.string()),
  dlqExpiresAt: z.number(),
});

const keyOf = (accountId: string, dlqId: string): { readonly shard: string; readonly id: string } => ({
  shard: shardOf(accountId, dlqId),
  id: dlqId,
});

/** Writes an entry unless it is, or was, there already. */
export async function putDeadLetter(entry: DeadLetter): Promise<void> {
  const { dlqId, message, expiresAt, ...rest } = entry;
  await putNew(settings.dlqTable, 'id', {
    ...messageAttributes(message),
    ...rest,
    ...keyOf(message.accountId, dlqId),
    messageExpiresAt: epochSeconds(message.expiresAt),
    dlqExpiresAt: expiresAt,
    expiresAt: epochSeconds(expiresAt),
  });
}

/** Rows may outlive their time by days before they vanish, and removed ones until their time: neither is there. */
function deadLetterOf(row: Row, now: number): DeadLetter | undefined {
  if ('removedAt' in row) return undefined;
  const { id, dlqExpiresAt, ...rest } = dlqRow.parse(row);
  if (dlqExpiresAt <= now) return undefined;
  const message = messageOf({ ...row, expiresAt: row['messageExpiresAt'] });
  return { ...rest, dlqId: id, message, expiresAt: dlqExpiresAt };
}

export async function loadDeadLetter(
  accountId: string,
  dlqId: string,
  now: number,
): Promise<DeadLetter | undefined> {
  const row = await getRow(settings.dlqTable, keyOf(accountId, dlqId), true);
  return row && deadLetterOf(row, now);
}

/** One shard's entries, newest first. */
export async function* listDeadLetters(
  shard: string,
  range: Range,
  now: number,
): AsyncGenerator<Ordered & { readonly entry: DeadLetter }> {
  const { first, last } = idBounds('dlq', range);
  const rows = queryRows({
    TableName: settings.dlqTable,
    KeyConditionExpression: '#shard = :shard AND #id BETWEEN :first AND :last',
    ExpressionAttributeNames: { '#shard': 'shard', '#id': 'id' },
    ExpressionAttributeValues: { ':shard': { S: shard }, ':first': { S: first }, ':last': { S: last } },
    ScanIndexForward: false,
    Limit: rowsPerRead,
  });
  for await (const row of rows) {
    const entry = deadLetterOf(row, now);
    if (entry === undefined) continue;
    const ordered = { entry, id: entry.dlqId, time: timeOfId(entry.dlqId) };
    if (isBehind(ordered, range.behind)) yield ordered;
  }
}

/**
 * Takes an entry out; it stays as an empty place until its time, so that it is not written again.
 *
 * @returns false when it was not there any more
 */
export const removeDeadLetter = (accountId: string, dlqId: string, now: number): Promise<boolean> =>
  unlessRefused(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.dlqTable,
        Key: toItem(keyOf(accountId, dlqId)),
        UpdateExpression: 'SET removedAt = :now',
        ConditionExpression: 'attribute_exists(id) AND attribute_not_exists(removedAt)',
        ExpressionAttributeValues: { ':now': { N: String(now) } },
      }),
    ),
  );

/**
 * Settles the id of the message that an entry is sent again as. Whoever asks first decides; all others, and the same one
 * after a crash, get that id.
 *
 * @returns the id, or undefined when the entry is not there any more
 */
export async function claimRetry(
  accountId: string,
  dlqId: string,
  retryId: string,
): Promise<string | undefined> {
  let claimed: Row | undefined;
  const isThere = await unlessRefused(
    dynamodb
      .send(
        new UpdateItemCommand({
          TableName: settings.dlqTable,
          Key: toItem(keyOf(accountId, dlqId)),
          UpdateExpression: 'SET retryId = if_not_exists(retryId, :id)',
          ConditionExpression: 'attribute_exists(id) AND attribute_not_exists(removedAt)',
          ExpressionAttributeValues: { ':id': { S: retryId } },
          ReturnValues: 'UPDATED_NEW',
        }),
      )
      .then(({ Attributes = {} }) => {
        claimed = unmarshall(Attributes);
      }),
  );
  return isThere && claimed !== undefined ? z.string().parse(claimed['retryId']) : undefined;
}
