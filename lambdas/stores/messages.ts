/**
 * The messages table. A message's row is written once and never changed; behind it, in the same partition, stands a
 * row for each attempt that was made, and one for its end where it ended otherwise. Reading a message reads all of
 * them, in one query, and whatever was recorded is seen.
 */
import {
  PutItemCommand,
  QueryCommand,
  type AttributeValue,
  type QueryCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { shardOf } from '../domain/ids.ts';
import {
  attemptStates,
  epochSeconds,
  methods,
  type Attempt,
  type CallbackSettings,
  type Message,
} from '../domain/message.ts';
import type { Pointer } from '../domain/pointer.ts';
import { settings } from '../settings.ts';
import { bytes, storedBody, type StoredBody } from './bodies.ts';
import { dynamodb, putNew, toItem } from './dynamodb.ts';

const header = z.tuple([z.string(), z.string()]);

const deliverySettings = {
  url: z.string(),
  method: z.enum(methods),
  headers: z.array(header),
  maxRetries: z.number(),
  timeoutMs: z.number(),
  retryDelay: z.optional(z.string()),
  labels: z._default(z.array(z.string()), []),
};

const callbackSettings = z.object({ ...deliverySettings, delayMs: z.number() });

const messageRow = z.object({
  ...deliverySettings,
  id: z.string(),
  prefix: z.string(),
  createdAt: z.number(),
  notBefore: z.number(),
  callerIp: z.string(),
  callback: z.optional(callbackSettings),
  failureCallback: z.optional(callbackSettings),
  body: storedBody,
  expiresAt: z.number(),
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

/** A message with all that was recorded of it. */
export interface MessageHistory {
  readonly message: Message;
  readonly body: StoredBody;
  /** By number. */
  readonly attempts: readonly Attempt[];
  /** It was withdrawn before it was delivered: no further attempt is made. */
  readonly ended: boolean;
}

/** `~` sorts behind every character of an id, so a message's rows follow it. */
const attemptId = (messageId: string, attempt: number): string =>
  `${messageId}~${String(attempt).padStart(6, '0')}`;
const endId = (messageId: string): string => `${messageId}~end`;

const withoutEmptyLabels = <T extends { readonly labels: readonly string[] }>(
  of: T,
): Omit<T, 'labels'> & { labels?: readonly string[] } => ({
  ...of,
  labels: of.labels.length === 0 ? undefined : of.labels,
});

const toRow = (message: Message, body: StoredBody): object => {
  const { messageId, accountId, expiresAt, callback, failureCallback, ...rest } = message;
  const callbackRow = (of: CallbackSettings | undefined): object | undefined => of && withoutEmptyLabels(of);
  return {
    ...withoutEmptyLabels(rest),
    shard: shardOf(accountId, messageId),
    id: messageId,
    callback: callbackRow(callback),
    failureCallback: callbackRow(failureCallback),
    body,
    expiresAt: epochSeconds(expiresAt),
  };
};

/** Writes a message's row, over one that may be there already. */
export async function putMessage(message: Message, body: StoredBody): Promise<void> {
  await dynamodb.send(
    new PutItemCommand({ TableName: settings.messagesTable, Item: toItem(toRow(message, body)) }),
  );
}

/**
 * Records a finished attempt. Of two workers that made the same attempt, one records it.
 *
 * @returns whether this call did
 */
export async function recordAttempt(message: Message, attempt: Attempt): Promise<boolean> {
  const { number, response, ...rest } = attempt;
  const delivered = attempt.state === 'DELIVERED';
  return putNew(settings.messagesTable, 'id', {
    ...rest,
    shard: shardOf(message.accountId, message.messageId),
    id: attemptId(message.messageId, number),
    attempt: number,
    // The log shows what a destination answered to a failed attempt; of a successful one, the status says enough.
    response: delivered ? { status: response.status, headers: {}, body: new Uint8Array() } : response,
    url: message.url,
    labels: message.labels.length === 0 ? undefined : message.labels,
    callerIp: message.callerIp,
    expiresAt: epochSeconds(message.expiresAt),
  });
}

/** Ends a message that was not accepted after all: a worker that finds this row makes no attempt. */
export async function endMessage(message: Message): Promise<void> {
  await putNew(settings.messagesTable, 'id', {
    shard: shardOf(message.accountId, message.messageId),
    id: endId(message.messageId),
    expiresAt: epochSeconds(message.expiresAt),
  });
}

const attemptOf = (row: Record<string, unknown>): Attempt => {
  const { attempt, ...rest } = attemptRow.parse(row);
  return { number: attempt, ...rest };
};

/** Reads a message with its history, strongly consistent; undefined when there is no such row. */
export async function loadMessage(
  pointer: Pick<Pointer, 'accountId' | 'messageId'>,
): Promise<MessageHistory | undefined> {
  const { accountId, messageId } = pointer;
  const rows: Record<string, unknown>[] = [];
  let from: Record<string, AttributeValue> | undefined;
  do {
    const page: QueryCommandOutput = await dynamodb.send(
      new QueryCommand({
        TableName: settings.messagesTable,
        ConsistentRead: true,
        KeyConditionExpression: '#shard = :shard AND #id BETWEEN :first AND :last',
        ExpressionAttributeNames: { '#shard': 'shard', '#id': 'id' },
        ExpressionAttributeValues: {
          ':shard': { S: shardOf(accountId, messageId) },
          ':first': { S: messageId },
          ':last': { S: endId(messageId) },
        },
        ExclusiveStartKey: from,
      }),
    );
    rows.push(...(page.Items ?? []).map((item) => unmarshall(item)));
    from = page.LastEvaluatedKey;
  } while (from !== undefined);

  const own = rows.find((row) => row['id'] === messageId);
  if (own === undefined) return undefined;
  const { id, body, expiresAt, ...rest } = messageRow.parse(own);
  return {
    message: { ...rest, messageId: id, accountId, expiresAt: expiresAt * 1000 },
    body,
    attempts: rows.filter((row) => 'attempt' in row).map(attemptOf),
    ended: rows.some((row) => row['id'] === endId(messageId)),
  };
}
