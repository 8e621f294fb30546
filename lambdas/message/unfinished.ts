/** Finds the messages of a region that need something: those that are not over, and those whose last attempt is new. */
import { isOver, isFinal } from './message.ts';
import { settings } from '../aws/settings.ts';
import { scanRows, type Row } from '../aws/dynamodb.ts';
import { isId } from '../table/shards.ts';
import { historyOf, loadMessage, type MessageHistory } from './history.ts';
import { isAttempt, isEnd, messageIdOf, outlineOf, ownKeyOf, projectionOf, type MessageKey } from './rows.ts';

/** The attributes that a scan reads of each row: enough to pass over messages that are over. */
const scanned = ['shard', 'id', 'attempt', 'state', 'recordedAt', 'nextDeliveryAt', 'response.status', 'end'];

/** A message as the scan sees it. */
interface Sighted {
  readonly key: MessageKey;
  /** All of its rows, where the scan reads them whole. */
  readonly rows: Row[];
  isOver: boolean;
  recordedAt: number;
}

/**
 * Reads the whole table once, and of each message that seems to need something its history, strongly consistent.
 *
 * @param recordedSince Unix milliseconds: a message that is over is found too if its last attempt was recorded since
 * @param isStill whether nothing changes the table meanwhile: histories are then made of what the scan reads
 */
export async function* unfinishedMessages(
  recordedSince = Infinity,
  isStill = false,
): AsyncGenerator<MessageHistory> {
  let sighted: Sighted | undefined;
  const rows = scanRows({
    TableName: settings.messagesTable,
    ...(isStill ? { ConsistentRead: true } : projectionOf(scanned)),
  });
  for await (const row of rows) {
    // Other rows are bodies.
    if (!isId('msg', messageIdOf(row)) || String(row['shard']).startsWith('body#')) continue;
    if (sighted === undefined || sighted.key.messageId !== messageIdOf(row)) {
      yield* loadIfNeeded(sighted, recordedSince);
      sighted = { key: ownKeyOf(row), rows: [], isOver: false, recordedAt: -Infinity };
    }
    if (isStill) sighted.rows.push(row);
    note(sighted, row);
  }
  yield* loadIfNeeded(sighted, recordedSince);
}

function note(sighted: Sighted, row: Row): void {
  if (isEnd(row)) sighted.isOver = true;
  if (!isAttempt(row)) return;
  const attempt = outlineOf(row);
  sighted.recordedAt = Math.max(sighted.recordedAt, attempt.recordedAt);
  sighted.isOver ||= isFinal(attempt);
}

async function* loadIfNeeded(sighted: Sighted | undefined, since: number): AsyncGenerator<MessageHistory> {
  if (sighted === undefined || (sighted.isOver && sighted.recordedAt < since)) return;
  const history = await historyIn(sighted);
  if (history === undefined) return;
  const isNew = history.attempts.some(({ recordedAt }) => recordedAt >= since);
  if (isNew || !isOver(history)) yield history;
}

function historyIn({ key, rows }: Sighted): Promise<MessageHistory | undefined> {
  if (rows.length === 0) return loadMessage(key);
  const own = rows.find((row) => row['id'] === key.messageId);
  return Promise.resolve(own && historyOf({ own, following: rows.filter((row) => row !== own) }));
}
