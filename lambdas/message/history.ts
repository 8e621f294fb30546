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

/** From the end of an attempt's timeout until it is surely recorded. */
export const recordMs = minuteMs;

export interface MessageHistory {
  readonly message: Message;
  readonly body: StoredBody;
  /** By number. */
  readonly attempts: readonly Attempt[];
  /** The open attempt: answered 202 and not recorded. */
  readonly open: OpenAttempt | undefined;
  /** An end from outside: no further attempt is made. */
  readonly end: End | undefined;
  /** When it ended, Unix milliseconds, if it did. */
  readonly endedAt: number | undefined;
}

interface MessageRows {
  readonly own: Row;
  /** The rows after its own: attempts by number, then the end. */
  readonly following: readonly Row[];
}

/** Strongly consistent. Returns undefined if the message's own row is missing. */
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

/** Whether a message was cancelled or failed permanently. An attempt in flight may have delivered a cancelled one. */
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

/** Whether a message has ended since; cheaper than reading its history. */
export async function isEnded(key: MessageKey): Promise<boolean> {
  return (await getRow(settings.messagesTable, keyOf(key, endId(key.messageId)), true)) !== undefined;
}

/** Whether the log says that an attempt waits for its host. */
export const isHeldBack = async (key: MessageKey, attempt: number): Promise<boolean> =>
  (await getRow(settings.messagesTable, keyOf(key, heldId(key.messageId, attempt)), false)) !== undefined;

/** Finds a body's place; cheaper than the history. Returns undefined without a message. */
export async function loadStoredBody(key: MessageKey): Promise<StoredBody | undefined> {
  const row = await getRow(settings.messagesTable, keyOf(key), true);
  return row && storedBody.parse(row['body']);
}

export const recordOf = ({ attempts }: MessageHistory, number: number): Attempt | undefined =>
  attempts.find((attempt) => attempt.number === number);

/** An attempt in the table, with everything its consequences need. */
export interface RecordedAttempt {
  /** Read before the attempt, or after a redelivery. */
  readonly history: MessageHistory;
  readonly account: Account;
  readonly attempt: Attempt;
  /** Whether another job has probably continued from it. */
  readonly isFollowUp?: true;
}

/**
 * Returns when the job of an attempt that follows from a record is due, Unix milliseconds. A follow-up's job is due when the
 * attempt of the first job, if there is one, is surely recorded: the attempt must not be made twice at once.
 */
export const followsAt = (
  { isFollowUp }: Pick<RecordedAttempt, 'isFollowUp'>,
  { timeoutMs }: Pick<Message, 'timeoutMs'>,
  dueAt: number,
): number => (isFollowUp === true ? dueAt + timeoutMs + recordMs : dueAt);

export interface MadeAttempt extends RecordedAttempt {
  readonly body: Uint8Array;
  /** The whole response; the record truncates its body. */
  readonly response: DestinationResponse;
}
