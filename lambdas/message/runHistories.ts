/** Reads the records of many messages. */
import type { Attempt } from './message.ts';
import { eachOf } from '../shared/lists.ts';
import { settings } from '../aws/settings.ts';
import { getRows, type Row } from '../aws/dynamodb.ts';
import { endIn, loadMessageRows } from './history.ts';
import {
  attemptId,
  attemptOf,
  endId,
  endOf,
  isAttempt,
  isEnd,
  keyOf,
  messageIdOf,
  type End,
} from './rows.ts';

/** A message's recorded attempts and its end. */
export interface RecordedHistory {
  /** By number. */
  readonly attempts: readonly Attempt[];
  readonly end: End | undefined;
}

/** Messages that are read at once, one by one, because they were retried: their rows cannot be named beforehand. */
const retriedAtOnce = 20;

/**
 * Reads the attempts and the ends of messages of an account, strongly consistent. Most messages have one attempt: its row and
 * that of the end are read for all of them at once, and only the messages that were retried are read one by one.
 *
 * @param messageIds each once
 * @returns by id; a message without records is not among them
 */
export async function loadRunHistories(
  accountId: string,
  messageIds: readonly string[],
): Promise<ReadonlyMap<string, RecordedHistory>> {
  const keys = messageIds.flatMap((messageId) =>
    [attemptId(messageId, 0), endId(messageId)].map((id) => keyOf({ accountId, messageId }, id)),
  );
  const rows = await getRows(settings.messagesTable, keys, { ConsistentRead: true });
  const byMessage = new Map<string, Row[]>();
  for (const row of rows) {
    const messageId = messageIdOf(row);
    byMessage.set(messageId, [...(byMessage.get(messageId) ?? []), row]);
  }
  const histories = new Map<string, RecordedHistory>();
  for (const [messageId, found] of byMessage) histories.set(messageId, recordedHistoryOf(found));
  const retried = [...histories].filter(([, { attempts }]) => attempts[0]?.state === 'RETRY');
  await eachOf(retried, retriedAtOnce, async ([messageId]) => {
    const all = await loadMessageRows({ accountId, messageId });
    if (all !== undefined) {
      histories.set(messageId, { attempts: all.following.filter(isAttempt).map(attemptOf), end: endIn(all) });
    }
  });
  return histories;
}

function recordedHistoryOf(rows: readonly Row[]): RecordedHistory {
  const end = rows.find(isEnd);
  return { attempts: rows.filter(isAttempt).map(attemptOf), end: end && endOf(end) };
}
