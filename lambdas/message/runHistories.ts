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

export interface RecordedHistory {
  /** By number. */
  readonly attempts: readonly Attempt[];
  readonly end: End | undefined;
}

/** How many messages are read at once, one query each, because the ids of the rows of retries are unknown. */
const retriedAtOnce = 20;

/**
 * Reads the attempts and ends of an account's messages, strongly consistent. Most have one attempt, so all
 * first attempts and ends are read together.
 *
 * @param messageIds no id twice
 * @returns by id; messages without records are missing
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
