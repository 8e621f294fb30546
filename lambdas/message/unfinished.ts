import { isOver, type Message, type OpenAttempt } from './message.ts';
import { settings } from '../aws/settings.ts';
import { scanRows, type Row } from '../aws/dynamodb.ts';
import { isId } from '../table/shards.ts';
import { loadMessage } from './history.ts';
import { isAttempt, isEnd, messageIdOf, outlineOf, ownKeyOf, projectionOf, type MessageKey } from './rows.ts';
import type { AttemptOutline } from './status.ts';

export interface Unfinished {
  readonly message: Pick<
    Message,
    keyof MessageKey | 'url' | 'timeoutMs' | 'notBefore' | 'createdAt' | 'change' | 'callbackOf' | 'workflow'
  >;
  /** By number. */
  readonly attempts: readonly AttemptOutline[];
  /** The open attempt, if any. Nothing has to be done until it ends. */
  readonly open: OpenAttempt | undefined;
  /** Set if the message was cancelled, or not accepted after all. */
  readonly end: unknown;
}

/** Bodies and answers, the largest part of the table, are left out. */
const scanned = [
  ...['shard', 'id', 'attempt', 'state', 'recordedAt', 'after'],
  ...['nextDeliveryAt', 'response.status', 'end'],
];

interface Sighted extends MessageKey {
  readonly attempts: AttemptOutline[];
  end: unknown;
}

type IsWanted = (message: MessageKey, attempts: readonly AttemptOutline[]) => boolean;

/**
 * Reads the whole table once. For each message that may need something, reads its history, strongly
 * consistent.
 *
 * @param recordedSince Unix milliseconds: also finds finished messages whose last attempt was recorded since
 * then
 * @param isWanted whether to read the history of an unfinished message
 */
export async function* unfinishedMessages(
  recordedSince = Infinity,
  isWanted: IsWanted = () => true,
): AsyncGenerator<Unfinished> {
  const needs = (one: Sighted): boolean => needsMore(one, recordedSince) && isWanted(one, one.attempts);
  let sighted: Sighted | undefined;
  const rows = scanRows({ TableName: settings.messagesTable, ...projectionOf(scanned) });
  for await (const row of rows) {
    const messageId = messageIdOf(row);
    if (sighted?.messageId !== messageId) {
      // Other rows are bodies.
      if (!isId('msg', messageId) || String(row['shard']).startsWith('body#')) continue;
      if (sighted !== undefined && needs(sighted)) yield* found(sighted, recordedSince);
      sighted = { ...ownKeyOf(row), attempts: [], end: undefined };
    }
    note(sighted, row);
  }
  if (sighted !== undefined && needs(sighted)) yield* found(sighted, recordedSince);
}

function note(sighted: Sighted, row: Row): void {
  if (isEnd(row)) sighted.end = row['end'];
  else if (isAttempt(row)) sighted.attempts.push(outlineOf(row));
}

const needsMore = (history: Pick<Unfinished, 'attempts' | 'end'>, since: number): boolean =>
  !isOver(history) || history.attempts.some(({ recordedAt }) => recordedAt >= since);

async function* found({ accountId, messageId }: Sighted, since: number): AsyncGenerator<Unfinished> {
  const history = await loadMessage({ accountId, messageId });
  if (history !== undefined && needsMore(history, since)) yield history;
}
