import { QueryCommand, type QueryCommandOutput } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { minuteMs } from '../shared/clock.ts';
import { timeOfId } from '../shared/ids.ts';
import type { LogSubject } from './message.ts';
import { attemptStates, type Attempt, type AttemptState, type OpenAttempt } from './message.ts';
import { settings } from '../aws/settings.ts';
import { dynamodb, queryItems, type Key, type Row } from '../aws/dynamodb.ts';
import { ListedItem } from '../table/listedItem.ts';
import {
  byOrder,
  inOrder,
  isBehind,
  momentsOf,
  rowsPerRead,
  type Ordered,
  type Range,
} from '../table/shards.ts';
import { endIn, loadMessageRows } from './history.ts';
import type { LoggedMessage } from './list.ts';
import {
  attemptOf,
  heldAttemptOf,
  isAttempt,
  isHeld,
  isOpen,
  openOf,
  ownMessageOf,
  projectionOf,
  subjectOf,
} from './rows.ts';

/**
 * A record's place in the log is the time at which its attempt ended, but it is written after up to four AWS calls, which time
 * out after 13 s each, and after the index's delay. After this time new records before that place are not expected. Younger
 * records are counted again each time.
 */
export const settledAfterMs = 2 * minuteMs;

export interface LoggedEnd {
  /** Unix milliseconds. */
  readonly recordedAt: number;
  /** An attempt's state; `HELD` while it waits for its host or completion; undefined for a cancellation. */
  readonly state: AttemptState | 'HELD' | undefined;
}

/** A log row: an attempt, a waiting attempt, or a cancellation. */
export interface LogRow extends Ordered {
  readonly subject: LogSubject;
  readonly attempt: Attempt | undefined;
  readonly held: number | undefined;
  /** The attempt that was left open. */
  readonly open: OpenAttempt | undefined;
  /** Does not parse the whole row. */
  readonly textsOf?: (name: string) => readonly string[];
}

const orderedRow = z.object({ id: z.string(), recordedAt: z.number() });

function logRowOf(row: Row): LogRow {
  const { id, recordedAt } = orderedRow.parse(row);
  return {
    id,
    time: recordedAt,
    subject: subjectOf(row),
    attempt: isAttempt(row) ? attemptOf(row) : undefined,
    held: isHeld(row) ? heldAttemptOf(row) : undefined,
    open: isOpen(row) ? openOf(row) : undefined,
  };
}

/** Parsed on demand, because most log rows are skipped. */
class ListedLogRow implements LogRow {
  readonly id: string;
  readonly time: number;
  readonly #item: ListedItem;

  constructor(item: ListedItem) {
    const { id, recordedAt } = orderedRow.parse(item.only(['id', 'recordedAt']));
    this.id = id;
    this.time = recordedAt;
    this.#item = item;
  }

  get subject(): LogSubject {
    return subjectOf(this.#item.row);
  }

  get attempt(): Attempt | undefined {
    return this.#item.has('attempt') ? attemptOf(this.#item.row) : undefined;
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

export async function* listLog(shard: string, range: Range): AsyncGenerator<LogRow> {
  const { first, last } = momentsOf(range);
  // DynamoDB refuses empty ranges: a cursor may be before the first requested time.
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

/** In the range's order, with the message itself as the oldest. */
export async function* listHistory(
  accountId: string,
  messageId: string,
  range: Range,
): AsyncGenerator<LogRow | LoggedMessage> {
  const rows = await loadMessageRows({ accountId, messageId });
  if (rows === undefined) return;
  const message = ownMessageOf(rows.own);
  const logged = { message, end: endIn(rows), id: messageId, time: timeOfId(messageId) };
  const records = rows.following.filter((row) => 'recordedAt' in row).map(logRowOf);
  for (const row of [...records, logged].sort(byOrder(range.order))) {
    if (isBehind(row, range)) yield row;
  }
}

export interface TimedAttempt {
  readonly url: string;
  readonly state: AttemptState;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** Unix milliseconds. */
  readonly recordedAt: number;
  /** 0 without an answer. */
  readonly status: number;
  /** Whether its message reports an alarm of the account. */
  readonly isAlarm?: true | undefined;
}

const timedRow = z.object({
  recordedAt: z.number(),
  startedAt: z.optional(z.number()),
  state: z.optional(z.enum([...attemptStates, 'HELD'])),
  url: z.string(),
  response: z.optional(z.object({ status: z.number() })),
  isAlarm: z.optional(z.literal(true)),
});

interface ReadAttempts {
  /** Newest first. */
  readonly attempts: readonly TimedAttempt[];
  /** The oldest record's time if there are older ones, Unix milliseconds. */
  readonly readFrom: number | undefined;
}

export interface WantedAttempts {
  /** The most records to read; one call's megabyte by default. */
  readonly most?: number | undefined;
  /** Unix milliseconds, inclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly destinations?: readonly string[] | undefined;
  readonly of?: LogLane | undefined;
}

export type LogLane = readonly [attribute: 'queueName' | 'flowControlKey', name: string];

/** Reads a shard's newest records in one call. Eventually consistent, because it reads an index. */
export async function newestAttempts(
  shard: string,
  { most, from = 0, to = Number.MAX_SAFE_INTEGER, destinations, of }: WantedAttempts,
): Promise<ReadAttempts> {
  const { ProjectionExpression, ExpressionAttributeNames } = projectionOf([
    ...Object.keys(timedRow.shape).filter((name) => name !== 'response'),
    'response.status',
  ]);
  const page = await dynamodb.send(
    new QueryCommand({
      TableName: settings.messagesTable,
      IndexName: 'log',
      KeyConditionExpression: '#shard = :shard AND #recordedAt BETWEEN :from AND :to',
      FilterExpression:
        of === undefined
          ? destinations?.map((_, index) => `contains(#url, :url${index})`).join(' OR ')
          : '#of = :of',
      ProjectionExpression,
      ExpressionAttributeNames: {
        ...{ ...ExpressionAttributeNames, '#shard': 'shard' },
        ...(of && { '#of': of[0] }),
      },
      ExpressionAttributeValues: {
        ':shard': { S: shard },
        ':from': { N: String(from) },
        ':to': { N: String(to) },
        ...(of && { ':of': { S: of[1] } }),
        ...Object.fromEntries((destinations ?? []).map((text, index) => [`:url${index}`, { S: text }])),
      },
      ScanIndexForward: false,
      Limit: most,
    }),
  );
  const rows = (page.Items ?? []).map((item) => timedRow.parse(unmarshall(item)));
  const attempts = rows.flatMap(({ startedAt, state, response, ...row }) =>
    startedAt === undefined || state === undefined || state === 'HELD'
      ? []
      : [{ ...row, startedAt, state, status: response?.status ?? 0 }],
  );
  const last = page.LastEvaluatedKey?.['recordedAt']?.N;
  return { attempts, readFrom: last === undefined ? undefined : Number(last) };
}

/** Records per read when counting. With long answers a read ends earlier, at 1 MB. */
const endsPerRead = 1_000;

const endRow = z.object({ recordedAt: z.number(), state: z.optional(z.enum([...attemptStates, 'HELD'])) });

interface LoggedEnds {
  readonly records: readonly LoggedEnd[];
  /** All records until then are read, Unix milliseconds. Undefined after the last record. */
  readonly readUntil: number | undefined;
}

/**
 * Reads a shard's records after a time, to count ends: one read, or more if all its records have the same time. Eventually
 * consistent, because it reads an index.
 *
 * @param behind Unix milliseconds, exclusive
 */
export async function readEnds(shard: string, behind: number): Promise<LoggedEnds> {
  const { ProjectionExpression, ExpressionAttributeNames } = projectionOf(Object.keys(endRow.shape));
  const records: LoggedEnd[] = [];
  let from: QueryCommandOutput['LastEvaluatedKey'];
  do {
    const page: QueryCommandOutput = await dynamodb.send(
      new QueryCommand({
        TableName: settings.messagesTable,
        IndexName: 'log',
        KeyConditionExpression: '#shard = :shard AND #recordedAt > :behind',
        ProjectionExpression,
        ExpressionAttributeNames: { ...ExpressionAttributeNames, '#shard': 'shard' },
        ExpressionAttributeValues: { ':shard': { S: shard }, ':behind': { N: String(behind) } },
        Limit: endsPerRead,
        ExclusiveStartKey: from,
      }),
    );
    for (const item of page.Items ?? []) {
      const { recordedAt, state } = endRow.parse(unmarshall(item));
      records.push({ recordedAt, state });
    }
    from = page.LastEvaluatedKey;
    // A read may end between records with the same time. The next read starts with those.
    const last = records.at(-1)?.recordedAt ?? behind;
    const whole = from === undefined ? records : records.filter(({ recordedAt }) => recordedAt < last);
    if (from === undefined || whole.length > 0) {
      return { records: whole, readUntil: from === undefined ? undefined : last - 1 };
    }
  } while (from !== undefined);
  return { records, readUntil: undefined };
}
