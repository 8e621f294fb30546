/** Finds the messages of a region that need something: those that are not over, and those whose last attempt is new. */
import { isOver, type Message, type OpenAttempt } from './message.ts';
import { settings } from '../aws/settings.ts';
import { scanRows, type Row } from '../aws/dynamodb.ts';
import { isId } from '../table/shards.ts';
import { loadMessage } from './history.ts';
import { isAttempt, isEnd, messageIdOf, outlineOf, ownKeyOf, projectionOf, type MessageKey } from './rows.ts';
import type { AttemptOutline } from './status.ts';

/** A message with the part of its history that tells what is to be done. */
export interface Unfinished {
  readonly message: Pick<Message, keyof MessageKey | 'url' | 'timeoutMs' | 'notBefore'>;
  /** By number. */
  readonly attempts: readonly AttemptOutline[];
  /** The attempt that is open, if any: nothing is to be done for it before its end. */
  readonly open: OpenAttempt | undefined;
  /** The end that came from outside, if any. */
  readonly end: unknown;
}

/** The attributes that a scan reads of each row. Bodies and answers are not among them: they are most of a table. */
const scanned = ['shard', 'id', 'attempt', 'state', 'recordedAt', 'nextDeliveryAt', 'response.status', 'end'];

/** A message as the scan sees it. */
interface Sighted extends MessageKey {
  readonly attempts: AttemptOutline[];
  end: unknown;
}

/**
 * Reads the whole table once, and of each message that seems to need something its history, strongly consistent.
 *
 * @param recordedSince Unix milliseconds: a message that is over is found too if its last attempt was recorded since
 */
export async function* unfinishedMessages(recordedSince = Infinity): AsyncGenerator<Unfinished> {
  let sighted: Sighted | undefined;
  const rows = scanRows({ TableName: settings.messagesTable, ...projectionOf(scanned) });
  for await (const row of rows) {
    const messageId = messageIdOf(row);
    if (sighted?.messageId !== messageId) {
      // Other rows are bodies.
      if (!isId('msg', messageId) || String(row['shard']).startsWith('body#')) continue;
      if (sighted !== undefined && needs(sighted, recordedSince)) yield* found(sighted, recordedSince);
      sighted = { ...ownKeyOf(row), attempts: [], end: undefined };
    }
    note(sighted, row);
  }
  if (sighted !== undefined && needs(sighted, recordedSince)) yield* found(sighted, recordedSince);
}

function note(sighted: Sighted, row: Row): void {
  if (isEnd(row)) sighted.end = row['end'];
  else if (isAttempt(row)) sighted.attempts.push(outlineOf(row));
}

/** Whether something follows from what is known of a message. */
const needs = (history: Pick<Unfinished, 'attempts' | 'end'>, since: number): boolean =>
  !isOver(history) || history.attempts.some(({ recordedAt }) => recordedAt >= since);

async function* found({ accountId, messageId }: Sighted, since: number): AsyncGenerator<Unfinished> {
  const history = await loadMessage({ accountId, messageId });
  if (history !== undefined && needs(history, since)) yield history;
}
