/**
 * The dead letters: a row for each message that failed for good. The row has what lists show and filter by, and the
 * beginning of the last answer's body. Whole bodies stay with the message, whose own row is kept longer than this one.
 */

import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { epochSeconds } from '../shared/clock.ts';
import { shardOf, timeOfId } from '../shared/ids.ts';
import { failureFunctionStates, type FailureFunctionState } from '../wire/states.ts';
import type { KeptResponse, Message } from '../message/message.ts';
import { settings } from '../aws/settings.ts';
import { dynamodb, getRow, putNew, queryRows, toItem, unlessRefused, type Row } from '../aws/dynamodb.ts';
import { countedUntil } from './sizeRows.ts';
import type { Shape } from '../options/option.ts';
import { messageAttributes, messageOf } from '../message/rows.ts';
import { bytes, headerPairs } from '../table/attributes.ts';
import { idBounds, isBehind, isId, rowsPerRead, type Ordered, type Range } from '../table/shards.ts';

/** The run of a workflow that failed, as its dead letter knows it. */
export interface DeadRun {
  readonly runId: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** The place of the run's start in the journal of its id. */
  readonly startSeq: number;
  /** The URL that the run was started with. */
  readonly url: string;
  /** Absent where the endpoint has no failure function. */
  readonly failureState?: FailureFunctionState | undefined;
}

export interface DeadLetter {
  readonly dlqId: string;
  /** The message that failed; of a run, the delivery that failed. */
  readonly message: Message;
  /** The run that failed with the message, if any. */
  readonly workflow?: DeadRun | undefined;
  /** The number of the last attempt, which is the number of retries. */
  readonly retried: number;
  /** Unix milliseconds. */
  readonly failedAt: number;
  readonly responseStatus: number;
  /** Names in lower case. */
  readonly responseHeaders: KeptResponse['headers'];
  /** The beginning of the last answer's body; absent where it had none. */
  readonly responseBody?: Uint8Array | undefined;
  readonly error?: string | undefined;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

const deadLetterRow = z.object({
  id: z.string(),
  run: z.optional(
    z.object({
      runId: z.string(),
      createdAt: z.number(),
      startSeq: z.number(),
      url: z.string(),
      failureState: z.optional(z.enum(failureFunctionStates)),
    } satisfies Shape<DeadRun>),
  ),
  retried: z.number(),
  failedAt: z.number(),
  responseStatus: z.number(),
  responseHeaders: headerPairs,
  responseBody: z.optional(bytes),
  error: z.optional(z.string()),
  dlqExpiresAt: z.number(),
});

const placeRow = z.object({ id: z.string() });

export const keyOf = (accountId: string, dlqId: string): { readonly shard: string; readonly id: string } => ({
  shard: shardOf(accountId, dlqId),
  id: dlqId,
});

/**
 * Writes a dead letter, unless it is there or was there before.
 *
 * @returns whether it was written
 */
export async function putDeadLetter(deadLetter: DeadLetter): Promise<boolean> {
  const { dlqId, message, workflow, expiresAt, ...rest } = deadLetter;
  return putNew(settings.dlqTable, 'id', {
    ...messageAttributes(message),
    ...rest,
    run: workflow,
    ...keyOf(message.accountId, dlqId),
    messageExpiresAt: epochSeconds(message.expiresAt),
    dlqExpiresAt: expiresAt,
    presentSince: timeOfId(dlqId),
    // A trim must find it as long as it is counted.
    expiresAt: epochSeconds(countedUntil(expiresAt)),
  });
}

/**
 * Reads a row.
 *
 * @returns undefined for a dead letter that was taken out, or has expired: DynamoDB may need days to remove such rows
 */
function readDeadLetter(row: Row, now: number): DeadLetter | undefined {
  if ('removedAt' in row) return undefined;
  const { id, run, dlqExpiresAt, ...rest } = deadLetterRow.parse(row);
  if (dlqExpiresAt <= now) return undefined;
  const message = messageOf({ ...row, expiresAt: row['messageExpiresAt'] });
  return { ...rest, dlqId: id, message, workflow: run, expiresAt: dlqExpiresAt };
}

/**
 * Notes the state of a run's failure function in its dead letter, where that has another state now.
 *
 * @param state absent where the endpoint has no failure function
 * @param before the state that it has to have
 * @returns whether it had that state
 */
export const noteFailureState = (
  accountId: string,
  dlqId: string,
  state: FailureFunctionState | undefined,
  before: FailureFunctionState,
): Promise<boolean> =>
  unlessRefused(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.dlqTable,
        Key: toItem(keyOf(accountId, dlqId)),
        UpdateExpression: state === undefined ? 'REMOVE #run.failureState' : 'SET #run.failureState = :state',
        ConditionExpression: '#run.failureState = :before',
        ExpressionAttributeNames: { '#run': 'run' },
        ExpressionAttributeValues: toItem({ ':before': before, ':state': state }),
      }),
    ),
  );

export async function loadDeadLetter(
  accountId: string,
  dlqId: string,
  now: number,
): Promise<DeadLetter | undefined> {
  if (!isId('dlq', dlqId)) return undefined;
  const row = await getRow(settings.dlqTable, keyOf(accountId, dlqId), true);
  return row && readDeadLetter(row, now);
}

/**
 * A row of the list. One without a dead letter is passed on too, so that a reader who finds many of them can stop after a
 * while.
 */
export interface ListedDeadLetter extends Ordered {
  readonly deadLetter: DeadLetter | undefined;
}

/** Reads one shard's dead letters, in the order of the range. */
export async function* listDeadLetters(
  shard: string,
  range: Range,
  now: number,
): AsyncGenerator<ListedDeadLetter> {
  const { first, last } = idBounds('dlq', range);
  // DynamoDB refuses a range that ends before it begins: a cursor may lie before the first moment that is asked for.
  if (first > last) return;
  const rows = queryRows({
    TableName: settings.dlqTable,
    KeyConditionExpression: '#shard = :shard AND #id BETWEEN :first AND :last',
    ExpressionAttributeNames: { '#shard': 'shard', '#id': 'id' },
    ExpressionAttributeValues: { ':shard': { S: shard }, ':first': { S: first }, ':last': { S: last } },
    ScanIndexForward: range.order === 'earliestFirst',
    Limit: rowsPerRead,
  });
  for await (const row of rows) {
    const { id } = placeRow.parse(row);
    const ordered = { deadLetter: readDeadLetter(row, now), id, time: timeOfId(id) };
    if (isBehind(ordered, range)) yield ordered;
  }
}
