import type { QueryCommandInput, QueryCommandOutput } from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { minuteMs } from '../shared/clock.ts';
import { timeOfId } from '../shared/ids.ts';
import type { LogSubject } from './message.ts';
import type { Attempt, OpenAttempt } from './message.ts';
import { settings } from '../aws/settings.ts';
import { queryItems, queryPages, type Key, type Row } from '../aws/dynamodb.ts';
import { ListedItem } from '../table/listedItem.ts';
import {
  byOrder,
  idBounds,
  inOrder,
  isBehind,
  momentsOf,
  precedes,
  rowsPerRead,
  type Ordered,
  type Range,
} from '../table/shards.ts';
import { endIn, loadMessageRows } from './history.ts';
import { outlined, type LoggedMessage } from './list.ts';
import {
  attemptOf,
  heldAttemptOf,
  isAttempt,
  isHeld,
  isOpen,
  openOf,
  outlineOf,
  ownMessageOf,
  promptMs,
  recordedAtOf,
  subjectOf,
} from './rows.ts';
import type { AttemptOutline } from './status.ts';

/**
 * A record's place in the log is when its attempt ended. It is written later: after up to four AWS calls,
 * which time out after 13 s each, and appears with the index's delay. After this time no new records before
 * that place are expected. Younger records are counted again each time.
 */
export const settledAfterMs = 2 * minuteMs;

/** A log row: an attempt, a waiting attempt, or a cancellation. */
export interface LogRow extends Ordered {
  readonly subject: LogSubject;
  readonly attempt: Attempt | undefined;
  readonly held: number | undefined;
  /** The attempt, if the row says that it was left open. */
  readonly open: OpenAttempt | undefined;
  /** The attempt, without the body of its answer. */
  readonly outline?: AttemptOutline | undefined;
  /** Reads texts of a row without parsing all of it. */
  readonly textsOf?: (name: string) => readonly string[];
}

const orderedRow = z.object({ id: z.string(), time: z.number() });

const placeOf = (row: Row): Ordered => orderedRow.parse({ id: row['id'], time: recordedAtOf(row) });

function logRowOf(row: Row): LogRow {
  return {
    ...placeOf(row),
    subject: subjectOf(row),
    attempt: isAttempt(row) ? attemptOf(row) : undefined,
    held: isHeld(row) ? heldAttemptOf(row) : undefined,
    open: isOpen(row) ? openOf(row) : undefined,
  };
}

class ListedLogRow implements LogRow {
  readonly id: string;
  readonly time: number;
  readonly #item: ListedItem;

  constructor(item: ListedItem) {
    const { id, time } = placeOf(item.only(['id', 'recordedAt', 'after']));
    this.id = id;
    this.time = time;
    this.#item = item;
  }

  get subject(): LogSubject {
    return subjectOf(this.#item.row);
  }

  get attempt(): Attempt | undefined {
    return this.#item.has('attempt') ? attemptOf(this.#item.row) : undefined;
  }

  get outline(): AttemptOutline | undefined {
    return this.#item.has('attempt') ? outlineOf(this.#item.only(outlined)) : undefined;
  }

  get held(): number | undefined {
    return this.#item.has('held') ? heldAttemptOf(this.#item.row) : undefined;
  }

  get open(): OpenAttempt | undefined {
    return this.#item.has('open') ? openOf(this.#item.row) : undefined;
  }

  textsOf(name: string): readonly string[] {
    return this.#item.textsOf(name);
  }
}

async function* logRows(items: AsyncIterable<Key>): AsyncGenerator<LogRow> {
  for await (const item of items) yield new ListedLogRow(new ListedItem(item));
}

/** Lists the records that are in the index: all that are not prompt. */
export async function* listLate(shard: string, range: Range): AsyncGenerator<LogRow> {
  const { first, last } = momentsOf(range);
  // DynamoDB refuses a range whose end is before its beginning: a cursor may be before the first requested
  // time.
  if (first > last) return;
  const rows = queryItems({
    TableName: settings.messagesTable,
    IndexName: 'log',
    KeyConditionExpression: '#shard = :shard AND #recordedAt BETWEEN :first AND :last',
    ExpressionAttributeNames: { '#shard': 'shard', '#recordedAt': 'recordedAt' },
    ExpressionAttributeValues: {
      ':shard': { S: shard },
      ':first': { N: String(first) },
      ':last': { N: String(Math.min(last, Number.MAX_SAFE_INTEGER)) },
    },
    ScanIndexForward: range.order === 'earliestFirst',
    Limit: rowsPerRead,
  });
  for await (const row of inOrder(logRows(rows), range.order)) {
    if (isBehind(row, range)) yield row;
  }
}

/** How far a list has been read. */
export interface Mark extends Ordered {
  readonly isMark: true;
}

export const isMark = (row: object): row is Mark => 'isMark' in row;

/** Reads the messages whose prompt records can have times in the range. */
export const promptQuery = (shard: string, first: number, last: number): QueryCommandInput => {
  const bounds = idBounds('msg', { fromDate: first - promptMs, toDate: last });
  return {
    TableName: settings.messagesTable,
    KeyConditionExpression: '#shard = :shard AND #id BETWEEN :first AND :last',
    FilterExpression: 'attribute_exists(#after)',
    ExpressionAttributeNames: { '#shard': 'shard', '#id': 'id', '#after': 'after' },
    ExpressionAttributeValues: {
      ':shard': { S: shard },
      ':first': { S: bounds.first },
      ':last': { S: bounds.last },
    },
  };
};

/** When the last message of a page was accepted; undefined on the last page. */
export function readTo({ LastEvaluatedKey: key }: QueryCommandOutput): number | undefined {
  const id = key?.['id']?.S;
  return id === undefined ? undefined : timeOfId(id.replace(/~.*$/, ''));
}

/** Lists prompt records. Messages are read in the order of acceptance, and their records are sorted. */
export async function* listPrompt(shard: string, range: Range): AsyncGenerator<LogRow | Mark> {
  const { first, last } = momentsOf(range);
  if (first > last) return;
  const isEarliestFirst = range.order === 'earliestFirst';
  let waiting: LogRow[] = [];
  const query = { ...promptQuery(shard, first, last), ScanIndexForward: isEarliestFirst, Limit: rowsPerRead };
  for await (const page of queryPages(query)) {
    const rows = (page.Items ?? []).map((item) => new ListedLogRow(new ListedItem(item)));
    waiting.push(...rows.filter((row) => row.time >= first && row.time <= last && isBehind(row, range)));
    waiting.sort(byOrder(range.order));
    const read = readTo(page);
    // Every record of a later message comes after this time.
    const mark: Mark | undefined =
      read === undefined
        ? undefined
        : isEarliestFirst
          ? { isMark: true, time: read - 1, id: '~' }
          : { isMark: true, time: read + promptMs + 1, id: '' };
    const isLater = (row: LogRow): boolean => mark !== undefined && precedes(range.order)(mark, row);
    yield* waiting.filter((row) => !isLater(row));
    waiting = waiting.filter(isLater);
    if (mark !== undefined && isBehind(mark, range)) yield mark;
  }
}

/** Lists the log of one message in the range's order. The message's own entry is the oldest. */
export async function* listHistory(
  accountId: string,
  messageId: string,
  range: Range,
): AsyncGenerator<LogRow | LoggedMessage> {
  const rows = await loadMessageRows({ accountId, messageId });
  if (rows === undefined) return;
  const message = ownMessageOf(rows.own);
  const logged = { message, end: endIn(rows), id: messageId, time: timeOfId(messageId) };
  const records = rows.following.filter((row) => recordedAtOf(row) !== undefined).map(logRowOf);
  for (const row of [...records, logged].sort(byOrder(range.order))) {
    if (isBehind(row, range)) yield row;
  }
}
