/**
 * The messages table. A message's row is written once and never changed; behind it, in the same partition, stands a
 * row for each attempt that was made, and one for its end where it ended otherwise. Reading a message reads all of
 * them, in one query, and whatever was recorded is seen.
 */
import { PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { methods } from '../domain/configuration.ts';
import { shardOf, timeOfId } from '../domain/ids.ts';
import { attemptStates, epochSeconds, type Attempt, type Message } from '../domain/message.ts';
import type { Pointer } from '../domain/pointer.ts';
import { logSubjectOf, type LogSubject } from '../domain/records.ts';
import { settings } from '../settings.ts';
import { bytes, storedBody, type StoredBody } from './bodies.ts';
import { dynamodb, getRow, putAll, putNew, queryRows, toItem, type Row } from './dynamodb.ts';
import { idBounds, inOrder, isBehind, isId, rowsPerRead, type Ordered, type Range } from './shards.ts';

const names = z._default(z.array(z.string()), []);

const deliverySettings = {
  url: z.string(),
  method: z.enum(methods),
  headers: z.array(z.tuple([z.string(), z.string()])),
  maxRetries: z.number(),
  timeoutMs: z.number(),
  retryDelay: z.optional(z.string()),
  labels: names,
  flowControl: z.optional(
    z.object({
      key: z.string(),
      parallelism: z.optional(z.number()),
      rate: z.optional(z.number()),
      period: z.optional(z.number()),
    }),
  ),
  redaction: z.optional(
    z.object({ body: z.boolean(), headers: z.union([z.literal('all'), z.array(z.string())]) }),
  ),
};

const origin = {
  topicName: z.optional(z.string()),
  endpointName: z.optional(z.string()),
  queueName: z.optional(z.string()),
  scheduleId: z.optional(z.string()),
};

const callbackSettings = z.object({ ...deliverySettings, delayMs: z.number() });

const messageRow = z.object({
  ...deliverySettings,
  ...origin,
  messageId: z.string(),
  accountId: z.string(),
  prefix: z.string(),
  createdAt: z.number(),
  notBefore: z.number(),
  callerIp: z.string(),
  callback: z.optional(callbackSettings),
  failureCallback: z.optional(callbackSettings),
  expiresAt: z.number(),
});

const subjectRow = z.object({
  ...origin,
  messageId: z.string(),
  url: z.string(),
  method: z.enum(methods),
  labels: names,
  callerIp: z.string(),
  flowControlKey: z.optional(z.string()),
  createdAt: z.number(),
});

const attemptRow = z.object({
  attempt: z.number(),
  state: z.enum(attemptStates),
  startedAt: z.number(),
  recordedAt: z.number(),
  nextDeliveryAt: z.optional(z.number()),
  response: z.object({
    status: z.number(),
    error: z.optional(z.string()),
    headers: z.record(z.string(), z.array(z.string())),
    body: bytes,
  }),
});

/** How a message ended other than by its attempts: its publisher withdrew it, or it was not accepted after all. */
const ends = ['CANCELLED', 'REJECTED'] as const;
export type End = (typeof ends)[number];
const endRow = z.object({ end: z.enum(ends), endedAt: z.number() });

/** A message with all that was recorded of it. */
export interface MessageHistory {
  readonly message: Message;
  readonly body: StoredBody;
  /** By number. */
  readonly attempts: readonly Attempt[];
  /** No further attempt is made. */
  readonly end: End | undefined;
}

/** `~` sorts behind every character of an id, so a message's rows follow it. */
const attemptId = (messageId: string, attempt: number): string =>
  `${messageId}~${String(attempt).padStart(6, '0')}`;
const endId = (messageId: string): string => `${messageId}~end`;

type Labelled = { readonly labels: readonly string[] };
const withoutEmptyLabels = (of: Labelled): object => ({
  ...of,
  labels: of.labels.length === 0 ? undefined : of.labels,
});
const callbackRow = (of: Labelled | undefined): object | undefined => of && withoutEmptyLabels(of);

/** A message's own attributes, in whichever table. */
export const messageAttributes = (message: Message): object => ({
  ...withoutEmptyLabels(message),
  callback: callbackRow(message.callback),
  failureCallback: callbackRow(message.failureCallback),
});

/** @throws Error for a row that holds no message */
export function messageOf(row: Row): Message {
  const { expiresAt, ...rest } = messageRow.parse(row);
  return { ...rest, expiresAt: expiresAt * 1000 };
}

/** A row's key says which message it is of, and whose: rows are billed by the kilobyte, and nothing is said twice. */
const impliedByKey = { messageId: undefined, accountId: undefined };

const keyRow = z.object({ shard: z.string(), id: z.string() });

function withImplied(row: Row): Row {
  const { shard, id } = keyRow.parse(row);
  return { ...row, messageId: id.replace(/~.*$/, ''), accountId: shard.replace(/#\d+$/, '') };
}

const toRow = (message: Message, body: StoredBody): object => ({
  ...messageAttributes(message),
  ...impliedByKey,
  shard: shardOf(message.accountId, message.messageId),
  id: message.messageId,
  body,
  expiresAt: epochSeconds(message.expiresAt),
});

/** Writes a message's row, over one that may be there already. */
export async function putMessage(message: Message, body: StoredBody): Promise<void> {
  await dynamodb.send(
    new PutItemCommand({ TableName: settings.messagesTable, Item: toItem(toRow(message, body)) }),
  );
}

/** Writes the rows of many messages; see {@link putAll}. */
export const putMessages = (
  messages: readonly { readonly message: Message; readonly stored: StoredBody }[],
): Promise<void> =>
  putAll(
    settings.messagesTable,
    messages.map(({ message, stored }) => toRow(message, stored)),
  );

/**
 * Keeps a message's row for longer than it was written for: the one change that is made to it.
 *
 * @param body where its body is from now on
 */
export async function prolongMessage(message: Message, body: StoredBody): Promise<void> {
  const shard = shardOf(message.accountId, message.messageId);
  const expiresAt = epochSeconds(message.expiresAt);
  await dynamodb.send(
    new UpdateItemCommand({
      TableName: settings.messagesTable,
      Key: toItem({ shard, id: message.messageId }),
      UpdateExpression: 'SET #body = :body, expiresAt = :expiresAt',
      ConditionExpression: 'attribute_exists(id)',
      ExpressionAttributeNames: { '#body': 'body' },
      ExpressionAttributeValues: toItem({ ':body': body, ':expiresAt': expiresAt }),
    }),
  );
}

/** What every row behind a message's own says of it, so that the log needs no other row. */
const following = (message: Message): object => ({
  ...withoutEmptyLabels(logSubjectOf(message)),
  ...impliedByKey,
  shard: shardOf(message.accountId, message.messageId),
  expiresAt: epochSeconds(message.expiresAt),
});

/**
 * Records a finished attempt. Of two workers that made the same attempt, one records it.
 *
 * @returns whether this call did
 */
export async function recordAttempt(message: Message, attempt: Attempt): Promise<boolean> {
  const { number, response, ...rest } = attempt;
  // The log shows what a destination answered to a failed attempt; of a successful one, the status says enough.
  const kept =
    attempt.state === 'DELIVERED'
      ? { status: response.status, headers: {}, body: new Uint8Array() }
      : response;
  return putNew(settings.messagesTable, 'id', {
    ...following(message),
    ...rest,
    id: attemptId(message.messageId, number),
    attempt: number,
    response: kept,
  });
}

/**
 * Ends a message: a worker that finds this row makes no attempt. One that was withdrawn is in the log; one that was not
 * accepted is nowhere.
 *
 * @returns whether it had not ended so before
 */
export async function endMessage(message: Message, end: End, now: number): Promise<boolean> {
  return putNew(settings.messagesTable, 'id', {
    ...following(message),
    id: endId(message.messageId),
    end,
    endedAt: now,
    recordedAt: end === 'CANCELLED' ? now : undefined,
  });
}

/** Whether a message has been ended; for a look at a moment when its history was read before. */
export async function isEnded({ accountId, messageId }: MessageKey): Promise<boolean> {
  const key = { shard: shardOf(accountId, messageId), id: endId(messageId) };
  return (await getRow(settings.messagesTable, key, true)) !== undefined;
}

const attemptOf = (row: Row): Attempt => {
  const { attempt, ...rest } = attemptRow.parse(row);
  return { number: attempt, ...rest };
};

type MessageKey = Pick<Pointer, 'accountId' | 'messageId'>;

/** A message's row and those behind it, strongly consistent. */
async function rowsOf({ accountId, messageId }: MessageKey): Promise<readonly Row[]> {
  const rows: Row[] = [];
  if (!isId('msg', messageId)) return rows;
  const found = queryRows({
    TableName: settings.messagesTable,
    ConsistentRead: true,
    KeyConditionExpression: '#shard = :shard AND #id BETWEEN :first AND :last',
    ExpressionAttributeNames: { '#shard': 'shard', '#id': 'id' },
    ExpressionAttributeValues: {
      ':shard': { S: shardOf(accountId, messageId) },
      ':first': { S: messageId },
      ':last': { S: endId(messageId) },
    },
  });
  for await (const row of found) rows.push(row);
  return rows;
}

/** Reads a message with its history; undefined when there is no such row. */
export async function loadMessage(key: MessageKey): Promise<MessageHistory | undefined> {
  const { messageId } = key;
  const rows = await rowsOf(key);
  const own = rows.find((row) => row['id'] === messageId);
  if (own === undefined) return undefined;
  const ended = rows.find((row) => 'end' in row);
  return {
    message: messageOf(withImplied(own)),
    body: storedBody.parse(own['body']),
    attempts: rows.filter((row) => 'attempt' in row).map(attemptOf),
    end: ended && endRow.parse(ended).end,
  };
}

/** A message as the log tells of it: without its body. */
export interface LoggedMessage extends Ordered {
  readonly message: Message;
  readonly end: End | undefined;
}

/** A message in a list: with where it stands. */
export interface ListedMessage extends LoggedMessage {
  /** It will see no further attempt. */
  readonly isOver: boolean;
  /** The attempt that was recorded last. */
  readonly last: LastAttempt | undefined;
}

/** What of an attempt tells when the next is due. */
export type LastAttempt = Pick<Attempt, 'number' | 'recordedAt' | 'nextDeliveryAt'>;

const lastRow = z.object({
  attempt: z.number(),
  recordedAt: z.number(),
  nextDeliveryAt: z.optional(z.number()),
});

function lastOf(row: Row): LastAttempt {
  const { attempt, ...rest } = lastRow.parse(row);
  return { number: attempt, ...rest };
}

/**
 * The messages of one shard, newest first. The rows behind a message come before it in this order, and tell how it
 * stands.
 */
export async function* listMessages(shard: string, range: Range): AsyncGenerator<ListedMessage> {
  const bounds = idBounds('msg', range);
  const rows = queryRows({
    TableName: settings.messagesTable,
    KeyConditionExpression: '#shard = :shard AND #id BETWEEN :first AND :last',
    ProjectionExpression:
      '#shard, #id, #end, #attempt, #state, recordedAt, nextDeliveryAt, prefix, createdAt, notBefore, callerIp, #url, #method, headers, maxRetries, timeoutMs, retryDelay, labels, flowControl, redaction, topicName, endpointName, queueName, scheduleId, callback, failureCallback, expiresAt',
    ExpressionAttributeNames: {
      '#shard': 'shard',
      '#id': 'id',
      '#end': 'end',
      '#attempt': 'attempt',
      '#state': 'state',
      '#url': 'url',
      '#method': 'method',
    },
    ExpressionAttributeValues: {
      ':shard': { S: shard },
      ':first': { S: bounds.first },
      ':last': { S: bounds.last },
    },
    ScanIndexForward: false,
    Limit: rowsPerRead,
  });
  let end: End | undefined;
  let last: LastAttempt | undefined;
  let isDone = false;
  for await (const row of rows) {
    if ('end' in row) end = z.enum(ends).parse(row['end']);
    else if ('attempt' in row) {
      last ??= lastOf(row);
      isDone ||= row['state'] !== 'RETRY';
    } else {
      const message = messageOf(withImplied(row));
      const listed = { message, end, last, isOver: isDone || end !== undefined, id: message.messageId };
      const ordered = { ...listed, time: timeOfId(message.messageId) };
      if (isBehind(ordered, range.behind)) yield ordered;
      end = undefined;
      last = undefined;
      isDone = false;
    }
  }
}

/** A row of the log: an attempt, or a withdrawal. */
export interface LogRow extends Ordered {
  readonly subject: LogSubject;
  /** Undefined for a withdrawal. */
  readonly attempt: Attempt | undefined;
}

/** What was recorded of one shard's messages, the latest record first. */
export async function* listLog(shard: string, range: Range): AsyncGenerator<LogRow> {
  const latest = Math.min(
    range.toDate ?? Number.MAX_SAFE_INTEGER,
    range.behind?.time ?? Number.MAX_SAFE_INTEGER,
  );
  const rows = queryRows({
    TableName: settings.messagesTable,
    IndexName: 'log',
    KeyConditionExpression: '#shard = :shard AND #recordedAt BETWEEN :first AND :last',
    ExpressionAttributeNames: { '#shard': 'shard', '#recordedAt': 'recordedAt' },
    ExpressionAttributeValues: {
      ':shard': { S: shard },
      ':first': { N: String(range.fromDate ?? 0) },
      ':last': { N: String(latest) },
    },
    ScanIndexForward: false,
    Limit: rowsPerRead,
  });
  for await (const row of inOrder(logRows(rows))) {
    if (isBehind(row, range.behind)) yield row;
  }
}

async function* logRows(rows: AsyncIterable<Row>): AsyncGenerator<LogRow> {
  for await (const row of rows) yield logRowOf(row);
}

const orderedRow = z.object({ id: z.string(), recordedAt: z.number() });

function logRowOf(row: Row): LogRow {
  const { id, recordedAt } = orderedRow.parse(row);
  return {
    id,
    time: recordedAt,
    subject: subjectRow.parse(withImplied(row)),
    attempt: 'attempt' in row ? attemptOf(row) : undefined,
  };
}

/** All that one message has to say to the log, the latest first. */
export async function* listHistory(
  accountId: string,
  messageId: string,
  range: Range,
): AsyncGenerator<LogRow | LoggedMessage> {
  const rows = await rowsOf({ accountId, messageId });
  const own = rows.find((row) => row['id'] === messageId);
  if (own === undefined) return;
  const ended = rows.find((row) => 'end' in row);
  const end = ended && endRow.parse(ended).end;
  const message = messageOf(withImplied(own));
  const logged = { message, end, id: messageId, time: timeOfId(messageId) };
  const records = rows.filter((row) => 'recordedAt' in row).map(logRowOf);
  for (const row of [...records.sort((one, other) => other.time - one.time), logged]) {
    if (isBehind(row, range.behind)) yield row;
  }
}
