/**
 * The dead letter queue: a row for each message that failed for good. The row has what lists show and filter by; the
 * bodies stay with the message, whose own row outlives it.
 */
import { ConditionalCheckFailedException, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { dayMs } from '../domain/clock.ts';
import { shardOf, timeOfId } from '../domain/ids.ts';
import { epochSeconds, type Message } from '../domain/message.ts';
import { settings } from '../settings.ts';
import { dynamodb, getRow, putNew, queryRows, toItem, unlessRefused, type Row } from './dynamodb.ts';
import { messageAttributes, messageOf } from './messages.ts';
import { idBounds, isBehind, isId, rowsPerRead, type Ordered, type Range } from './shards.ts';

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
  dlqExpiresAt: z.number(),
});

const placeRow = z.object({ id: z.string() });

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
  if (!isId('dlq', dlqId)) return undefined;
  const row = await getRow(settings.dlqTable, keyOf(accountId, dlqId), true);
  return row && deadLetterOf(row, now);
}

/** A place in the list. What is not there any more is passed on too, so that the reader may tire of it. */
export interface ListedDeadLetter extends Ordered {
  readonly entry: DeadLetter | undefined;
}

/** One shard's entries, newest first. */
export async function* listDeadLetters(
  shard: string,
  range: Range,
  now: number,
): AsyncGenerator<ListedDeadLetter> {
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
    const { id } = placeRow.parse(row);
    const ordered = { entry: deadLetterOf(row, now), id, time: timeOfId(id) };
    if (isBehind(ordered, range.behind)) yield ordered;
  }
}

/** How long a removed entry's empty place is kept: longer than a pointer to it can still come back. */
const emptyPlaceMs = 2 * dayMs;

/**
 * Takes an entry out, because its owner wants it gone or because it was sent again. An empty place stays for a while, so
 * that it is not written again.
 *
 * @returns false when it was not there any more
 */
export const removeDeadLetter = async (
  accountId: string,
  dlqId: string,
  now: number,
  reason: 'deleted' | 'sent' = 'deleted',
): Promise<boolean> =>
  isId('dlq', dlqId) &&
  (await unlessRefused(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.dlqTable,
        Key: toItem(keyOf(accountId, dlqId)),
        UpdateExpression: 'SET removedAt = :now, removedAs = :reason, expiresAt = :end',
        ConditionExpression: 'attribute_exists(id) AND attribute_not_exists(removedAt)',
        ExpressionAttributeValues: toItem({
          ':now': now,
          ':reason': reason,
          ':end': epochSeconds(now + emptyPlaceMs),
        }),
      }),
    ),
  ));

/** Who sends an entry again: the one who asks, somebody else at this moment, or nobody, because it is out. */
export type RetryClaim =
  { readonly state: 'ours' | 'sent'; readonly retryId: string } | { readonly state: 'theirs' | 'gone' };

const claimedRow = z.object({
  retryId: z.optional(z.string()),
  removedAt: z.optional(z.number()),
  removedAs: z.optional(z.string()),
});

/**
 * Settles who sends an entry again, and as which message. The first to ask decides on the message's id; should he die,
 * the next one sends that same message.
 *
 * @param claim `staleBefore` is the time, in Unix milliseconds like `now`, before which a claim is that of a dead one
 */
export async function claimRetry(
  accountId: string,
  dlqId: string,
  claim: { readonly retryId: string; readonly now: number; readonly staleBefore: number },
): Promise<RetryClaim> {
  try {
    const { Attributes = {} } = await dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.dlqTable,
        Key: toItem(keyOf(accountId, dlqId)),
        UpdateExpression: 'SET retryId = if_not_exists(retryId, :id), retriedAt = :now',
        ConditionExpression:
          'attribute_exists(id) AND attribute_not_exists(removedAt) AND (attribute_not_exists(retriedAt) OR retriedAt < :stale)',
        ExpressionAttributeValues: toItem({
          ':id': claim.retryId,
          ':now': claim.now,
          ':stale': claim.staleBefore,
        }),
        ReturnValues: 'UPDATED_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    const { retryId = claim.retryId } = claimedRow.parse(unmarshall(Attributes));
    return { state: 'ours', retryId };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    const { retryId, removedAt, removedAs } = claimedRow.parse(unmarshall(error.Item ?? {}));
    if (removedAs === 'sent' && retryId !== undefined) return { state: 'sent', retryId };
    return { state: error.Item === undefined || removedAt !== undefined ? 'gone' : 'theirs' };
  }
}
