/** Filters of lists of runs. A run matches if it has one of the wanted values for each filter. */
import * as z from 'zod/mini';
import type { Order } from '../table/cursor.ts';
import type { Header } from '../shared/headers.ts';
import { badField, badRequest, quote } from '../error/httpError.ts';
import { optionalField, parseShape } from '../shared/json.ts';
import { stepStates, runStates, runWaits } from './states.ts';
import { known, type Filterable } from './filterFields.ts';
import { longestPage, matches, mostIds, wantedIn, type Filter } from './filters.ts';
import { found, inAnyCase, latestDateMs, QueryReader, type Period } from './queryReader.ts';

/** Identifies a run. Its id may be used again after the run has ended. */
export interface RunIdentity {
  readonly runId: string;
  /** When the start was accepted. */
  readonly createdAt: number;
}

const grammar = {
  aliases: { callerIP: 'callerIp' },
  undivided: new Set(['workflowUrl', 'path', 'workflowRunId', 'cursor']),
};

interface RunFilter extends Period, Pick<Filter, 'values'> {
  /** Whether the values of `workflowUrl` are prefixes. */
  readonly urlsBegin: boolean;
}

const everyRun: RunFilter = {
  fromDate: undefined,
  toDate: undefined,
  values: new Map(),
  urlsBegin: false,
};

type FilterableRun = Pick<Filterable, 'url' | 'labels' | 'callerIp' | 'flowControlKey'>;

/** Whether a run has a wanted value for each filter. Lists check dates themselves. */
export const matchesRun = (filter: RunFilter, run: FilterableRun): boolean =>
  matches(filter, { ...run, run }, filter.urlsBegin && 'workflowUrl');

const runFilterIn = (given: QueryReader): Omit<RunFilter, 'urlsBegin'> => ({
  ...given.period(),
  values: wantedIn(given, 'runs'),
});

/** The parameters of all lists of runs. */
const ofRuns = [...known.runs, 'fromDate', 'toDate'] as const;

export interface RunsQuery extends RunFilter {
  readonly count: number;
  readonly cursor: string | undefined;
  readonly order: Order | undefined;
  /** If set, all other filters are ignored. */
  readonly runs: readonly RunIdentity[] | undefined;
  readonly runId: string | undefined;
  /** When the run with that id was started. */
  readonly createdAt: number | undefined;
  readonly states: ReadonlySet<(typeof runFilterStates)[number]> | undefined;
  readonly messageIds: ReadonlySet<string> | undefined;
  /** The bytes of each body to show. −1 omits the field; undefined shows all. */
  readonly trimBody: number | undefined;
}

export const runFilterStates = [...runStates, ...runWaits, ...stepStates] as const;

/** Parameters that only the log of runs has. */
const ofLog = [
  'count',
  'cursor',
  'order',
  'workflowRunId',
  'workflowCreatedAt',
  'workflowRuns',
  'state',
  'messageId',
  'trimBody',
  'groupBy',
] as const;

/** Bytes: the upper bound of a number of 15 digits. */
export const mostTrimmed = 999_999_999_999_999;

/** Reads `<id>@<createdAt>`. The id may contain `@`. @throws HttpError 400 */
export function runOf(text: string): RunIdentity {
  const [, runId, createdAt] = /^(.+)@(\d{1,15})$/s.exec(text) ?? [];
  if (runId === undefined || createdAt === undefined) {
    throw badField(`workflowRuns has ${quote(text)}; allowed is <workflowRunId>@<workflowCreatedAt>.`);
  }
  return { runId, createdAt: Number(createdAt) };
}

function runsIn(given: QueryReader): readonly RunIdentity[] | undefined {
  const runs = given.list('workflowRuns')?.map(runOf);
  if (runs !== undefined && runs.length > longestPage) {
    throw badRequest('too_many_items', `workflowRuns has ${runs.length} runs; allowed are ${longestPage}.`);
  }
  return runs;
}

const setOf = <T>(values: readonly T[] | undefined): ReadonlySet<T> | undefined => values && new Set(values);

/**
 * Reads the query for the log of runs.
 *
 * @throws HttpError 400 for an unknown parameter, an empty one, or an invalid value
 */
export function parseRunsQuery(query: readonly Header[]): RunsQuery {
  const given = new QueryReader(query, grammar);
  // Clients ask for groups by run, the only ones that the log has.
  given.oneOf('groupBy', ['workflowRunId']);
  const read: RunsQuery = {
    count: given.whole('count', 1, longestPage) ?? longestPage,
    cursor: given.single('cursor'),
    order: given.order(),
    runs: runsIn(given),
    runId: given.single('workflowRunId'),
    createdAt: given.whole('workflowCreatedAt', 0, latestDateMs),
    states: setOf(given.list('state')?.map((text) => found('state', text, runFilterStates, inAnyCase))),
    messageIds: setOf(given.list('messageId')),
    trimBody: given.whole('trimBody', -1, mostTrimmed),
    ...runFilterIn(given),
    urlsBegin: false,
  };
  given.end([...ofRuns, ...ofLog]);
  if (read.runs === undefined) return read;
  const { count, cursor, order, runs, trimBody } = read;
  const others = { runId: undefined, createdAt: undefined, states: undefined, messageIds: undefined };
  return { ...everyRun, ...others, count, cursor, order, runs, trimBody };
}

export interface CancelQuery extends RunFilter {
  /** If set, all other filters are ignored. */
  readonly runIds: readonly string[] | undefined;
  readonly count: number | undefined;
}

const mostCancelled = 500;

const texts = z.array(z.string().check(z.minLength(1))).check(z.minLength(1));

/** The JSON body of a bulk cancellation, as clients in other languages send it. `{}` selects all. */
export const cancelBody = z.strictObject({
  workflowRunIds: optionalField(texts.check(z.describe('If ids are given, other filters are ignored.'))),
  workflowUrl: optionalField(
    z
      .union([z.string().check(z.minLength(1)), texts])
      .check(z.describe('The beginning of the workflows’ URLs, or several.')),
  ),
});

const allowedBody = '{"workflowRunIds"?: ["<id>", …], "workflowUrl"?: "<beginning of URLs>"}';

function runsToCancel(given: QueryReader, inBody: readonly string[] = []): Omit<CancelQuery, 'count'> {
  const runIds = [...(given.list('workflowRunIds') ?? []), ...inBody];
  if (runIds.length > mostIds) {
    throw badRequest('too_many_items', `workflowRunIds has ${runIds.length} ids; allowed are ${mostIds}.`);
  }
  const filter = {
    ...runFilterIn(given),
    urlsBegin: given.oneOf('workflowUrlExactMatch', ['true', 'false']) !== 'true',
  };
  return runIds.length === 0 ? { runIds: undefined, ...filter } : { runIds, ...everyRun };
}

/** Parameters that only a cancellation has. */
const ofCancel = ['workflowRunIds', 'workflowUrlExactMatch'] as const;

/**
 * Reads a request to cancel many runs, from its query and its JSON body.
 *
 * @throws HttpError 400 for an unknown filter, an empty one, or an invalid value
 */
export function parseCancelQuery(query: readonly Header[], body: Uint8Array): CancelQuery {
  const inBody = body.length === 0 ? {} : parseShape('The body', body, cancelBody, allowedBody);
  const urls = [inBody.workflowUrl ?? []].flat().map((url): Header => ['workflowUrl', url]);
  const given = new QueryReader([...query, ...urls], grammar);
  const read = {
    ...runsToCancel(given, inBody.workflowRunIds),
    count: given.whole('count', 1, mostCancelled),
  };
  given.end([...ofRuns, 'count', ...ofCancel]);
  return read;
}

/** Selects the runs to count, with the filters of a cancellation. */
export interface CountQuery extends Omit<CancelQuery, 'count'> {
  readonly cursor: string | undefined;
}

/** @throws HttpError as {@link parseCancelQuery} does */
export function parseCountQuery(query: readonly Header[]): CountQuery {
  const given = new QueryReader(query, grammar);
  const read = { ...runsToCancel(given), cursor: given.single('cursor') };
  given.end([...ofRuns, 'cursor', ...ofCancel]);
  return read;
}
