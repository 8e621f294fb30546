/** Reads the log: the records of messages. */
import { QueryCommand, type QueryCommandOutput } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { timeOfId } from '../shared/ids.ts';
import type { LogSubject } from './logSubject.ts';
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

/** The part of a log record that tells of an end. */
export interface LoggedEnd {
  /** Unix milliseconds. */
  readonly recordedAt: number;
  /** The state of an attempt; `HELD` for one that waits for its host or its completion; undefined for the record of a cancellation. */
  readonly state: AttemptState | 'HELD' | undefined;
}

/** A row of the log: an attempt, one that waits for its host or its completion, or a cancellation. */
export interface LogRow extends Ordered {
  readonly subject: LogSubject;
  readonly attempt: Attempt | undefined;
  /** The number of an attempt that waits for its host. */
  readonly held: number | undefined;
  /** The attempt that was left open. */
  readonly open: OpenAttempt | undefined;
  /** Reads the texts of an attribute that is one, or a list of them, where the row is one of many. */
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

/** A row of the log, of which most are passed over. */
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

/** Lists the records of one shard's messages, in the order of the range. */
export async function* listLog(shard: string, range: Range): AsyncGenerator<LogRow> {
  const { first, last } = momentsOf(range);
  // DynamoDB refuses a range that ends before it begins: a cursor may lie before the first moment that is asked for.
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

/** Lists the records of one message, with the message itself as the oldest, in the order of the range. */
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

/** An attempt as the log has it, without what its destination answered. */
export interface TimedAttempt {
  readonly url: string;
  readonly state: AttemptState;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** Unix milliseconds. */
  readonly recordedAt: number;
  /** 0 where there was no answer. */
  readonly status: number;
  /** Whether its message tells of an alarm of its account. */
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

/** The attempts of a part of a shard. */
export interface ReadAttempts {
  /** The newest first. */
  readonly attempts: readonly TimedAttempt[];
  /** Unix milliseconds: the part ends with a record of this moment, and there are older ones. Undefined where there are none. */
  readonly readFrom: number | undefined;
}

/** The records among which attempts are looked for. */
export interface WantedAttempts {
  /** The most records that are read; by default as many as a call reads, which are those of one megabyte. */
  readonly most?: number | undefined;
  /** Unix milliseconds, inclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Texts of which a destination has to contain one; undefined for all destinations. */
  readonly destinations?: readonly string[] | undefined;
  /** The queue, or the flow-control key, that they have to be of. */
  readonly of?: LogLane | undefined;
}

/** A queue or a flow-control key, by the attribute that names it in the records. */
export type LogLane = readonly [attribute: 'queueName' | 'flowControlKey', name: string];

/** Reads the newest records of one shard with one call, and gives those of attempts. Eventually consistent, as an index is. */
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

/** Records that are read at once to be counted. Where destinations' answers are long, a read ends at 1 MB, before this. */
const endsPerRead = 1_000;

const endRow = z.object({ recordedAt: z.number(), state: z.optional(z.enum([...attemptStates, 'HELD'])) });

/** Records of one shard that follow each other, the oldest first. */
export interface LoggedEnds {
  readonly records: readonly LoggedEnd[];
  /** Unix milliseconds: all records until then have been read. Undefined where none is left. */
  readonly readUntil: number | undefined;
}

/**
 * Reads the records of one shard behind a moment, to count ends: one read, and more only where that has records of one moment only.
 * Eventually consistent, as an index is.
 *
 * @param behind Unix milliseconds, itself excluded
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
    // A read may end between records of one moment. These are left to the next, which begins with the moment.
    const last = records.at(-1)?.recordedAt ?? behind;
    const whole = from === undefined ? records : records.filter(({ recordedAt }) => recordedAt < last);
    if (from === undefined || whole.length > 0) {
      return { records: whole, readUntil: from === undefined ? undefined : last - 1 };
    }
  } while (from !== undefined);
  return { records, readUntil: undefined };
}
