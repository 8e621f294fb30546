/** Reads the index `log`, and prompt records, which are not in it. Eventually consistent. */
import type { QueryCommandInput, QueryCommandOutput } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { queryPages, type Key } from '../../aws/dynamodb.ts';
import { settings } from '../../aws/settings.ts';
import { promptQuery, readTo } from '../../message/log.ts';
import { attemptStates, type AttemptState } from '../../message/message.ts';
import { projectionOf, promptMs, recordedAtOf } from '../../message/rows.ts';

export interface TimedAttempt {
  readonly url: string;
  readonly state: AttemptState;
  readonly startedAt: number;
  readonly recordedAt: number;
  /** The HTTP status; 0 without an answer. */
  readonly status: number;
  /** Whether the message reports an alarm of its account. */
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
  readonly attempts: readonly TimedAttempt[];
  /** The time of the oldest record that was read, if there are older ones. */
  readonly readFrom: number | undefined;
}

export interface WantedAttempts {
  /** The most records to read. By default one call, of a megabyte. */
  readonly most?: number | undefined;
  /** Inclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly destinations?: readonly string[] | undefined;
  readonly of?: LogLane | undefined;
}

export type LogLane = readonly [attribute: 'queueName' | 'flowControlKey', name: string];

const attemptAttributes = projectionOf([
  ...Object.keys(timedRow.shape).filter((name) => name !== 'response'),
  ...['response.status', 'id', 'after'],
]);

const attemptsIn = ({ Items = [] }: QueryCommandOutput): readonly TimedAttempt[] =>
  Items.flatMap((item) => {
    const row = unmarshall(item);
    const { startedAt, state, response, ...rest } = timedRow.parse({ ...row, recordedAt: recordedAtOf(row) });
    if (startedAt === undefined || state === undefined || state === 'HELD') return [];
    return [{ ...rest, startedAt, state, status: response?.status ?? 0 }];
  });

interface Terms {
  readonly terms: string | undefined;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Key;
}

const filterOf = ({ destinations, of }: WantedAttempts): Terms =>
  of === undefined
    ? {
        terms: destinations?.map((_, index) => `contains(#url, :url${index})`).join(' OR '),
        names: {},
        values: Object.fromEntries((destinations ?? []).map((text, index) => [`:url${index}`, { S: text }])),
      }
    : { terms: '#of = :of', names: { '#of': of[0] }, values: { ':of': { S: of[1] } } };

/** A place of records: the index, or the rows beside messages. */
interface Place {
  readonly query: (shard: string, from: number, to: number) => QueryCommandInput;
  /** The time up to which a page was read; undefined at the end. */
  readonly readTo: (page: QueryCommandOutput) => number | undefined;
  /**
   * Records may be out of order by this much (milliseconds). So only those that are this much later than the
   * time read are complete.
   */
  readonly marginMs: number;
  /** How many rows are read for each record. */
  readonly rows: number;
  /** The most calls to find the newest records. */
  readonly calls: number;
}

const late: Place = {
  query: (shard, from, to) => ({
    TableName: settings.messagesTable,
    IndexName: 'log',
    KeyConditionExpression: '#shard = :shard AND #recordedAt BETWEEN :from AND :to',
    ExpressionAttributeNames: { '#shard': 'shard' },
    ExpressionAttributeValues: {
      ':shard': { S: shard },
      ':from': { N: String(from) },
      ':to': { N: String(to) },
    },
  }),
  readTo: ({ LastEvaluatedKey: last }) => last && Number(last['recordedAt']?.N),
  marginMs: 0,
  rows: 1,
  calls: 1,
};

/** A call also reads each message's own row, and messages that wait have no record. */
const prompt: Place = { query: promptQuery, readTo, marginMs: promptMs + 1, rows: 2, calls: 10 };

/**
 * Reads a shard's newest records: those in the index with one call, and prompt ones from the same time on.
 */
export async function newestAttempts(shard: string, wanted: WantedAttempts): Promise<ReadAttempts> {
  const index = await newest(late, shard, wanted);
  const rest = await newest(prompt, shard, wanted, index.readFrom);
  const ends = [index, rest].flatMap(({ readFrom }) => readFrom ?? []);
  return {
    attempts: [...index.attempts, ...rest.attempts],
    readFrom: ends.length === 0 ? undefined : Math.max(...ends),
  };
}

async function newest(place: Place, shard: string, wanted: WantedAttempts, far = 0): Promise<ReadAttempts> {
  const { most, from = 0, to = Number.MAX_SAFE_INTEGER } = wanted;
  const { terms, names, values } = filterOf(wanted);
  const query = place.query(shard, from, to);
  const filters = [query.FilterExpression, terms && `(${terms})`].filter((one) => one !== undefined);
  const pages = queryPages({
    ...query,
    ...(filters.length > 0 && { FilterExpression: filters.join(' AND ') }),
    ProjectionExpression: attemptAttributes.ProjectionExpression,
    ExpressionAttributeNames: {
      ...query.ExpressionAttributeNames,
      ...attemptAttributes.ExpressionAttributeNames,
      ...names,
    },
    ExpressionAttributeValues: { ...query.ExpressionAttributeValues, ...values },
    ScanIndexForward: false,
    Limit: most,
  });
  const attempts: TimedAttempt[] = [];
  let calls = 0;
  for await (const page of pages) {
    attempts.push(...attemptsIn(page).filter(({ recordedAt }) => recordedAt >= from && recordedAt <= to));
    const read = place.readTo(page);
    if (read === undefined) break;
    const readFrom = read + place.marginMs;
    calls += 1;
    const isEnough = readFrom <= Math.max(far, from) || attempts.length >= (most ?? 0);
    if (readFrom <= to && (isEnough || calls >= place.calls)) return { attempts, readFrom };
  }
  return { attempts, readFrom: undefined };
}

export interface LoggedEnd {
  readonly recordedAt: number;
  /**
   * The state of the attempt; `HELD` while it waits for its host or its completion; undefined for a
   * cancellation.
   */
  readonly state: AttemptState | 'HELD' | undefined;
}

/** How many records a call reads to count them. If answers are long, it reads 1 MB. */
const endsPerRead = 1_000;

const endRow = z.object({ recordedAt: z.number(), state: z.optional(z.enum([...attemptStates, 'HELD'])) });

interface LoggedEnds {
  readonly records: readonly LoggedEnd[];
  /** All records up to this time are read. Undefined after the last record. */
  readonly readUntil: number | undefined;
}

const endAttributes = projectionOf([...Object.keys(endRow.shape), 'id', 'after']);

const endsIn = ({ Items = [] }: QueryCommandOutput): readonly LoggedEnd[] =>
  Items.map((item) => {
    const row = unmarshall(item);
    const { recordedAt, state } = endRow.parse({ ...row, recordedAt: recordedAtOf(row) });
    return { recordedAt, state };
  });

/**
 * Reads a shard's records after a time, to count outcomes: one call for each place of records, or more if all
 * records have the same time.
 *
 * @param behind Unix milliseconds, exclusive
 */
export async function readEnds(shard: string, behind: number): Promise<LoggedEnds> {
  const both = await Promise.all([late, prompt].map((place) => endsFrom(place, shard, behind)));
  const ends = both.flatMap(({ readUntil }) => readUntil ?? []);
  const readUntil = ends.length === 0 ? undefined : Math.min(...ends);
  const isRead = ({ recordedAt }: LoggedEnd): boolean => recordedAt <= (readUntil ?? Infinity);
  return { records: both.flatMap(({ records }) => records).filter(isRead), readUntil };
}

async function endsFrom(place: Place, shard: string, behind: number): Promise<LoggedEnds> {
  const query = place.query(shard, behind + 1, Number.MAX_SAFE_INTEGER);
  const pages = queryPages({
    ...query,
    ProjectionExpression: endAttributes.ProjectionExpression,
    ExpressionAttributeNames: {
      ...query.ExpressionAttributeNames,
      ...endAttributes.ExpressionAttributeNames,
    },
    Limit: place.rows * endsPerRead,
  });
  const records: LoggedEnd[] = [];
  for await (const page of pages) {
    records.push(...endsIn(page).filter(({ recordedAt }) => recordedAt > behind));
    // The page may end between records with the same time. The next call reads those again.
    const read = place.readTo(page);
    if (read !== undefined && read - 1 > behind) return { records, readUntil: read - 1 };
  }
  return { records, readUntil: undefined };
}
