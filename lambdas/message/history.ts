import type { Attempt, Message, OpenAttempt } from './message.ts';
import type { DestinationResponse } from '../destination/response.ts';
import type { Account } from '../account/account.ts';
import { settings } from '../aws/settings.ts';
import { minuteMs } from '../shared/clock.ts';
import { getRow, queryRows, type Row } from '../aws/dynamodb.ts';
import { isId } from '../table/shards.ts';
import { storedBody, type StoredBody } from './message.ts';
import {
  attemptOf,
  endedAtOf,
  endId,
  endOf,
  heldId,
  isAttempt,
  isEnd,
  isOpen,
  keyOf,
  openOf,
  outlineOf,
  ownMessageOf,
  type End,
  type MessageKey,
} from './rows.ts';

/** An attempt is surely recorded this long after its timeout. */
export const recordMs = minuteMs;

export interface MessageHistory {
  readonly message: Message;
  readonly body: StoredBody;
  /** By number. */
  readonly attempts: readonly Attempt[];
  /** The attempt that was answered with 202 and is not recorded yet. */
  readonly open: OpenAttempt | undefined;
  /** Set if the message was cancelled, or not accepted after all. No further attempt is made then. */
  readonly end: End | undefined;
  /** When the message was cancelled. */
  readonly endedAt: number | undefined;
}

interface MessageRows {
  readonly own: Row;
  /** The rows that follow the message's own: attempts by number, then the end. */
  readonly following: readonly Row[];
}

/**
 * Reads a message's rows, strongly consistent.
 *
 * @returns undefined if the message's own row is missing
 */
export async function loadMessageRows(key: MessageKey): Promise<MessageRows | undefined> {
  const { messageId } = key;
  if (!isId('msg', messageId)) return undefined;
  const found = queryRows({
    TableName: settings.messagesTable,
    ConsistentRead: true,
    KeyConditionExpression: '#shard = :shard AND #id BETWEEN :first AND :last',
    ExpressionAttributeNames: { '#shard': 'shard', '#id': 'id' },
    ExpressionAttributeValues: {
      ':shard': { S: keyOf(key).shard },
      ':first': { S: messageId },
      ':last': { S: endId(messageId) },
    },
  });
  const rows: Row[] = [];
  for await (const row of found) rows.push(row);
  const own = rows.find((row) => row['id'] === messageId);
  return own && { own, following: rows.filter((row) => row !== own) };
}

export function endIn({ following }: MessageRows): End | undefined {
  const ended = following.find(isEnd);
  return ended && endOf(ended);
}

/**
 * Whether a message was cancelled or failed permanently. If it was cancelled, an attempt in flight may have
 * delivered it.
 */
export async function endedUndelivered(key: MessageKey): Promise<boolean> {
  const rows = await loadMessageRows(key);
  if (rows === undefined) return false;
  const states = rows.following.filter(isAttempt).map((row) => outlineOf(row).state);
  if (states.includes('DELIVERED')) return false;
  return endIn(rows) !== undefined || states.some((state) => state === 'FAILED' || state === 'CANCELED');
}

export async function loadMessage(key: MessageKey): Promise<MessageHistory | undefined> {
  const rows = await loadMessageRows(key);
  return rows && historyOf(rows);
}

function historyOf({ own, following }: MessageRows): MessageHistory {
  const ended = following.find(isEnd);
  const attempts = following.filter(isAttempt).map(attemptOf);
  return {
    message: ownMessageOf(own),
    body: storedBody.parse(own['body']),
    attempts,
    open: unrecorded(following.filter(isOpen).map(openOf).at(-1), attempts),
    end: ended && endOf(ended),
    endedAt: ended && endedAtOf(ended),
  };
}

export const unrecorded = (
  open: OpenAttempt | undefined,
  attempts: readonly Pick<Attempt, 'number'>[],
): OpenAttempt | undefined => (attempts.some(({ number }) => number === open?.number) ? undefined : open);

/** Whether a message has ended since it was read. Cheaper than reading its history. */
export async function isEnded(key: MessageKey): Promise<boolean> {
  return (await getRow(settings.messagesTable, keyOf(key, endId(key.messageId)), true)) !== undefined;
}

/** Whether the log shows that an attempt waits for its host. */
export const isHeldBack = async (key: MessageKey, attempt: number): Promise<boolean> =>
  (await getRow(settings.messagesTable, keyOf(key, heldId(key.messageId, attempt)), false)) !== undefined;

/**
 * Finds where a body is stored. Cheaper than the history.
 *
 * @returns undefined if there is no message
 */
export async function loadStoredBody(key: MessageKey): Promise<StoredBody | undefined> {
  const row = await getRow(settings.messagesTable, keyOf(key), true);
  return row && storedBody.parse(row['body']);
}

export const recordOf = ({ attempts }: MessageHistory, number: number): Attempt | undefined =>
  attempts.find((attempt) => attempt.number === number);

/** A recorded attempt, with everything that its consequences need. */
export interface RecordedAttempt {
  /** As read before the attempt, or after a redelivery. */
  readonly history: MessageHistory;
  readonly account: Account;
  readonly attempt: Attempt;
  /** Whether another job has probably done the work that follows already. */
  readonly isFollowUp?: true;
}

/**
 * When to send the job of an attempt that follows from a record. A follow-up sends it late, when an attempt
 * by the first job must be recorded, so that the attempt is not made twice at the same time.
 */
export const followsAt = (
  { isFollowUp }: Pick<RecordedAttempt, 'isFollowUp'>,
  { timeoutMs }: Pick<Message, 'timeoutMs'>,
  dueAt: number,
): number => (isFollowUp === true ? dueAt + timeoutMs + recordMs : dueAt);

export interface MadeAttempt extends RecordedAttempt {
  readonly body: Uint8Array;
  /** The whole response. Its body is truncated in the record. */
  readonly response: DestinationResponse;
}
