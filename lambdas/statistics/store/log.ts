/** Reads the index `log`, and the prompt records, which are not in it. Eventually consistent. */
import { QueryCommand, type QueryCommandOutput } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { dynamodb, queryPages, type Key } from '../../aws/dynamodb.ts';
import { settings } from '../../aws/settings.ts';
import { promptQuery, readTo } from '../../message/log.ts';
import { attemptStates, type AttemptState } from '../../message/message.ts';
import { projectionOf, promptMs, recordedAtOf } from '../../message/rows.ts';

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

/** Reads a shard's newest records: one call of the index, and prompt ones as far back. */
export async function newestAttempts(shard: string, wanted: WantedAttempts): Promise<ReadAttempts> {
  const late = await newestLate(shard, wanted);
  const prompt = await newestPrompt(shard, wanted, late.readFrom ?? 0);
  const ends = [late.readFrom, prompt.readFrom].filter((one) => one !== undefined);
  return {
    attempts: [...late.attempts, ...prompt.attempts],
    readFrom: ends.length === 0 ? undefined : Math.max(...ends),
  };
}

async function newestLate(shard: string, wanted: WantedAttempts): Promise<ReadAttempts> {
  const { most, from = 0, to = Number.MAX_SAFE_INTEGER } = wanted;
  const { terms, names, values } = filterOf(wanted);
  const page = await dynamodb.send(
    new QueryCommand({
      TableName: settings.messagesTable,
      IndexName: 'log',
      KeyConditionExpression: '#shard = :shard AND #recordedAt BETWEEN :from AND :to',
      FilterExpression: terms,
      ProjectionExpression: attemptAttributes.ProjectionExpression,
      ExpressionAttributeNames: {
        ...attemptAttributes.ExpressionAttributeNames,
        '#shard': 'shard',
        ...names,
      },
      ExpressionAttributeValues: {
        ':shard': { S: shard },
        ':from': { N: String(from) },
        ':to': { N: String(to) },
        ...values,
      },
      ScanIndexForward: false,
      Limit: most,
    }),
  );
  const last = page.LastEvaluatedKey?.['recordedAt']?.N;
  return { attempts: attemptsIn(page), readFrom: last === undefined ? undefined : Number(last) };
}

/** A call may find only messages that wait. */
const mostPromptCalls = 10;

async function newestPrompt(shard: string, wanted: WantedAttempts, far: number): Promise<ReadAttempts> {
  const { most, from = 0, to = Number.MAX_SAFE_INTEGER } = wanted;
  const { terms, names, values } = filterOf(wanted);
  const query = promptQuery(shard, from, to);
  const pages = queryPages({
    ...query,
    ...(terms !== undefined && { FilterExpression: `${query.FilterExpression} AND (${terms})` }),
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
    const read = readTo(page);
    if (read === undefined) break;
    const readFrom = read + promptMs + 1;
    calls += 1;
    const isEnough = readFrom <= Math.max(far, from) || attempts.length >= (most ?? 0);
    if (readFrom <= to && (isEnough || calls >= mostPromptCalls)) return { attempts, readFrom };
  }
  return { attempts, readFrom: undefined };
}

export interface LoggedEnd {
  /** Unix milliseconds. */
  readonly recordedAt: number;
  /** An attempt's state; `HELD` while it waits for its host or completion; undefined for a cancellation. */
  readonly state: AttemptState | 'HELD' | undefined;
}

/** Records per read when counting. With long answers a read ends earlier, at 1 MB. */
const endsPerRead = 1_000;

const endRow = z.object({ recordedAt: z.number(), state: z.optional(z.enum([...attemptStates, 'HELD'])) });

interface LoggedEnds {
  readonly records: readonly LoggedEnd[];
  /** All records until then are read, Unix milliseconds. Undefined after the last record. */
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
 * Reads a shard's records after a time, to count ends: one read of each list, or more if all its records have the same time.
 *
 * @param behind Unix milliseconds, exclusive
 */
export async function readEnds(shard: string, behind: number): Promise<LoggedEnds> {
  const both = await Promise.all([lateEnds(shard, behind), promptEnds(shard, behind)]);
  const ends = both.flatMap(({ readUntil }) => readUntil ?? []);
  const readUntil = ends.length === 0 ? undefined : Math.min(...ends);
  const isRead = ({ recordedAt }: LoggedEnd): boolean => recordedAt <= (readUntil ?? Infinity);
  return { records: both.flatMap(({ records }) => records).filter(isRead), readUntil };
}

async function lateEnds(shard: string, behind: number): Promise<LoggedEnds> {
  const pages = queryPages({
    TableName: settings.messagesTable,
    IndexName: 'log',
    KeyConditionExpression: '#shard = :shard AND #recordedAt > :behind',
    ProjectionExpression: endAttributes.ProjectionExpression,
    ExpressionAttributeNames: { ...endAttributes.ExpressionAttributeNames, '#shard': 'shard' },
    ExpressionAttributeValues: { ':shard': { S: shard }, ':behind': { N: String(behind) } },
    Limit: endsPerRead,
  });
  const records: LoggedEnd[] = [];
  for await (const page of pages) {
    records.push(...endsIn(page));
    const last = page.LastEvaluatedKey?.['recordedAt']?.N;
    // A read may end between records with the same time. The next read starts with those.
    if (last !== undefined && Number(last) - 1 > behind) return { records, readUntil: Number(last) - 1 };
  }
  return { records, readUntil: undefined };
}

async function promptEnds(shard: string, behind: number): Promise<LoggedEnds> {
  const query = promptQuery(shard, behind + 1, Infinity);
  const pages = queryPages({
    ...query,
    ProjectionExpression: endAttributes.ProjectionExpression,
    ExpressionAttributeNames: {
      ...query.ExpressionAttributeNames,
      ...endAttributes.ExpressionAttributeNames,
    },
    // Each has its message's row beside it.
    Limit: 2 * endsPerRead,
  });
  const records: LoggedEnd[] = [];
  for await (const page of pages) {
    records.push(...endsIn(page).filter(({ recordedAt }) => recordedAt > behind));
    const read = readTo(page);
    if (read !== undefined && read - 1 > behind) return { records, readUntil: read - 1 };
  }
  return { records, readUntil: undefined };
}
