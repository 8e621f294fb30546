/**
 * Dead letters: a row for each permanently failed message, with the fields that lists show. Whole bodies are
 * stored with the message, whose row is kept longer.
 */

import { QueryCommand, type QueryCommandOutput } from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { epochSeconds } from '../shared/clock.ts';
import { shardOf, timeOfId } from '../shared/ids.ts';
import { failureFunctionStates, type FailureFunctionState } from '../wire/states.ts';
import type { KeptResponse, Message } from '../message/message.ts';
import { settings } from '../aws/settings.ts';
import { dynamodb, getRow, queryRows, type Row } from '../aws/dynamodb.ts';
import { countedUntil } from './sizeRows.ts';
import type { Readable } from '../options/option.ts';
import { messageAttributes, messageOf } from '../message/rows.ts';
import { bytes, headerPairs } from '../table/attributes.ts';
import { idBounds, isBehind, isId, rowsPerRead, type Ordered, type Range } from '../table/shards.ts';
import { update, putNew, unlessRefused } from '../aws/writes.ts';

const deadRun = z.object({
  runId: z.string(),
  createdAt: z.number(),
  startSeq: z.number(),
  url: z.string(),
  /** Undefined if the workflow has no failure function. */
  failureState: z.optional(z.enum(failureFunctionStates)),
});
export type DeadRun = Readable<z.infer<typeof deadRun>>;

export interface DeadLetter {
  readonly dlqId: string;
  /** The failed message; for a run, the failed delivery. */
  readonly message: Message;
  /** The run that failed with it, if any. */
  readonly workflow?: DeadRun | undefined;
  /** The number of retries. */
  readonly retried: number;
  readonly failedAt: number;
  readonly responseStatus: number;
  /** Lower-case names. */
  readonly responseHeaders: KeptResponse['headers'];
  /** The beginning of the last answer's body, if any. */
  readonly responseBody?: Uint8Array | undefined;
  readonly error?: string | undefined;
  readonly expiresAt: number;
}

const deadLetterRow = z.object({
  id: z.string(),
  run: z.optional(deadRun),
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

/** @returns false if it was written before */
export async function putDeadLetter(deadLetter: DeadLetter): Promise<boolean> {
  const { dlqId, message, workflow, expiresAt, ...rest } = deadLetter;
  return putNew(settings.dlqTable, {
    ...messageAttributes(message),
    ...rest,
    run: workflow,
    ...keyOf(message.accountId, dlqId),
    messageExpiresAt: epochSeconds(message.expiresAt),
    dlqExpiresAt: expiresAt,
    presentSince: timeOfId(dlqId),
    // A dead letter counts until the end of its last day. Its row is kept until then, so that a trim finds
    // it.
    expiresAt: epochSeconds(countedUntil(expiresAt)),
  });
}

/** @returns undefined for a removed or expired dead letter: DynamoDB may remove expired rows days later */
function readDeadLetter(row: Row, now: number): DeadLetter | undefined {
  if ('removedAt' in row) return undefined;
  const { id, run, dlqExpiresAt, ...rest } = deadLetterRow.parse(row);
  if (dlqExpiresAt <= now) return undefined;
  const message = messageOf({ ...row, expiresAt: row['messageExpiresAt'] });
  return { ...rest, dlqId: id, message, workflow: run, expiresAt: dlqExpiresAt };
}

/**
 * @param state undefined if the workflow has no failure function
 * @param before the expected state
 * @returns whether the dead letter had that state
 */
export const noteFailureState = (
  accountId: string,
  dlqId: string,
  state: FailureFunctionState | undefined,
  before: FailureFunctionState,
): Promise<boolean> =>
  unlessRefused(
    update(
      settings.dlqTable,
      keyOf(accountId, dlqId),
      state === undefined ? 'REMOVE #run.failureState' : 'SET #run.failureState = :state',
      { onlyIf: '#run.failureState = :before', values: { before, state } },
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

/** A row of the index. Also yielded without a dead letter, so that readers can stop after many rows. */
export interface ListedDeadLetter extends Ordered {
  readonly deadLetter: DeadLetter | undefined;
}

export async function* listDeadLetters(
  shard: string,
  range: Range,
  now: number,
): AsyncGenerator<ListedDeadLetter> {
  const { first, last } = idBounds('dlq', range);
  // DynamoDB refuses a range whose end is before its beginning.
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

/**
 * Counts a shard's dead letters of messages, without reading them here.
 *
 * @param until when to stop
 * @returns undefined if the time was too short
 */
export async function countOfMessages(
  shard: string,
  now: number,
  until: number,
): Promise<number | undefined> {
  let count = 0;
  let from: QueryCommandOutput['LastEvaluatedKey'];
  do {
    const page: QueryCommandOutput = await dynamodb.send(
      new QueryCommand({
        TableName: settings.dlqTable,
        KeyConditionExpression: '#shard = :shard',
        FilterExpression:
          'attribute_not_exists(removedAt) AND attribute_not_exists(#run) AND dlqExpiresAt > :now',
        ExpressionAttributeNames: { '#shard': 'shard', '#run': 'run' },
        ExpressionAttributeValues: { ':shard': { S: shard }, ':now': { N: String(now) } },
        Select: 'COUNT',
        ExclusiveStartKey: from,
      }),
    );
    count += page.Count ?? 0;
    from = page.LastEvaluatedKey;
    if (from !== undefined && Date.now() > until) return undefined;
  } while (from !== undefined);
  return count;
}
