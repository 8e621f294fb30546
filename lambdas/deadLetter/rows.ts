/**
 * The dead letters: a row for each message that failed for good. The row has what lists show and filter by, and of the last
 * answer's body the beginning. Whole bodies stay with the message, whose own row is kept longer than this one.
 */
import { QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { dayMs, epochSeconds } from '../shared/clock.ts';
import { shardOf, timeOfId } from '../shared/ids.ts';
import { failureFunctionStates, type FailureFunctionState } from '../wire/states.ts';
import type { KeptResponse, Message } from '../message/message.ts';
import { settings } from '../aws/settings.ts';
import { claiming } from '../table/claim.ts';
import {
  conditionalWrite,
  dynamodb,
  getRow,
  putNew,
  queryRows,
  scanRows,
  toItem,
  unlessRefused,
  type Row,
} from '../aws/dynamodb.ts';
import { countedUntil, type PresentDeadLetter } from './sizeRows.ts';
import type { Shape } from '../options/option.ts';
import { messageAttributes, messageOf } from '../message/rows.ts';
import { bytes, headerPairs } from '../table/attributes.ts';
import { idBounds, isBehind, isId, rowsPerRead, type Ordered, type Range } from '../table/shards.ts';

/** The run of a workflow that failed, as its dead letter knows it. */
export interface DeadRun {
  readonly runId: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** The place of its start in the journal of its id. */
  readonly startSeq: number;
  /** The URL that it was started with. */
  readonly url: string;
  /** Absent where nobody is told of the failure. */
  readonly failureState?: FailureFunctionState | undefined;
}

export interface DeadLetter {
  readonly dlqId: string;
  /** Of a run: the delivery that failed. */
  readonly message: Message;
  /** The run, where one failed with the message. */
  readonly workflow?: DeadRun | undefined;
  /** The number of the last attempt: how many retries there were. */
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
function deadLetterOf(row: Row, now: number): DeadLetter | undefined {
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
  return row && deadLetterOf(row, now);
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
    const ordered = { deadLetter: deadLetterOf(row, now), id, time: timeOfId(id) };
    if (isBehind(ordered, range)) yield ordered;
  }
}

const presentRow = z.object({ id: z.string(), dlqExpiresAt: z.number() });

/**
 * Reads the oldest dead letters of one shard, from an index that has those that are there. It is a moment behind: one that
 * was just taken out may be in it, and one that was just written may not. Those that have expired are in it until DynamoDB
 * removes them.
 */
export async function oldestDeadLetters(shard: string, count: number): Promise<readonly PresentDeadLetter[]> {
  const { Items = [] } = await dynamodb.send(
    new QueryCommand({
      TableName: settings.dlqTable,
      IndexName: 'present',
      KeyConditionExpression: '#shard = :shard',
      ExpressionAttributeNames: { '#shard': 'shard' },
      ExpressionAttributeValues: { ':shard': { S: shard } },
      Limit: count,
    }),
  );
  return Items.map((item) => {
    const { id, dlqExpiresAt } = presentRow.parse(unmarshall(item));
    return { dlqId: id, expiresAt: dlqExpiresAt };
  });
}

/** The row of a dead letter stays so long after it was taken out: an attempt of its message cannot come back later. */
const removedRowMs = 2 * dayMs;

/** The reason why a dead letter was taken out: its owner deleted it, it was sent again, or it made room for others. */
export type Removal = 'deleted' | 'sent' | 'trimmed';

/**
 * Takes a dead letter out. Its row stays for a while, marked as removed, so that the dead letter is not written again.
 *
 * @returns false when it was not there any more
 */
export async function removeDeadLetter(
  accountId: string,
  dlqId: string,
  now: number,
  reason: Removal,
): Promise<boolean> {
  if (!isId('dlq', dlqId)) return false;
  const removal = randomUUID();
  const { isMade, row } = await conditionalWrite(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.dlqTable,
        Key: toItem(keyOf(accountId, dlqId)),
        UpdateExpression:
          'SET removedAt = :now, removedAs = :reason, removal = :removal, expiresAt = :end REMOVE presentSince',
        ConditionExpression: 'attribute_exists(id) AND attribute_not_exists(removedAt)',
        ExpressionAttributeValues: toItem({
          ':removal': removal,
          ':now': now,
          ':reason': reason,
          ':end': epochSeconds(now + removedRowMs),
        }),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  );
  // The SDK tries again when an answer is lost, and then finds its own removal.
  return isMade || row?.['removal'] === removal;
}

interface DeadLetterClaim {
  /** Unix milliseconds. */
  readonly now: number;
  /** Unix milliseconds; a claim of this time or before is that of a process that died. */
  readonly endedBy: number;
  /** The id of what goes on from it. It is noted with the first claim; later ones leave it. */
  readonly retryId?: string | undefined;
}

/**
 * Claims a dead letter that has not been taken out, for one process to go on from it.
 *
 * @returns whether this claim was made, and the row as it is after that
 */
export const claimDeadLetter = (
  accountId: string,
  dlqId: string,
  { now, endedBy, retryId }: DeadLetterClaim,
) =>
  conditionalWrite(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.dlqTable,
        Key: toItem(keyOf(accountId, dlqId)),
        UpdateExpression: `SET ${retryId === undefined ? '' : 'retryId = if_not_exists(retryId, :id), '}retriedAt = :now`,
        ReturnValues: 'ALL_NEW',
        ...claiming({
          attribute: 'retriedAt',
          endedBy,
          onlyIf: 'attribute_exists(id) AND attribute_not_exists(removedAt)',
          values: { ':now': now, ':id': retryId },
        }),
      }),
    ),
  );

/**
 * The result of a claim: the dead letter is `ours` to send again; or it was `sent` before, under this id; or it is `theirs`,
 * sent by another process at this moment; or it is `gone`.
 */
export type RetryClaim =
  | { readonly state: 'ours' | 'sent'; readonly retryId: string }
  | { readonly state: 'theirs' | 'gone' };

const claimedRow = z.object({
  retryId: z.optional(z.string()),
  removedAt: z.optional(z.number()),
  removedAs: z.optional(z.string()),
});

/**
 * Claims a dead letter, to send it again. The first claim decides on the id of the new message: where its process dies,
 * the next sends that same message.
 */
export async function claimRetry(
  accountId: string,
  dlqId: string,
  claim: DeadLetterClaim & { readonly retryId: string },
): Promise<RetryClaim> {
  const { isMade, row } = await claimDeadLetter(accountId, dlqId, claim);
  const { retryId, removedAt, removedAs } = claimedRow.parse(row ?? {});
  if (isMade) return { state: 'ours', retryId: retryId ?? claim.retryId };
  if (removedAs === 'sent' && retryId !== undefined) return { state: 'sent', retryId };
  return { state: row === undefined || removedAt !== undefined ? 'gone' : 'theirs' };
}

/** Counts the dead letters of a region, of all accounts. */
export async function countPresent(): Promise<number> {
  const rows = scanRows({
    TableName: settings.dlqTable,
    FilterExpression: 'attribute_exists(presentSince)',
    ProjectionExpression: 'id',
  });
  let count = 0;
  for await (const row of rows) count += 'id' in row ? 1 : 0;
  return count;
}
