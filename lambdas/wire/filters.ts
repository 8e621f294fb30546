/** Filters of lists and bulk operations. An entry matches if each filter has one of its values. */
import type { Order } from '../table/cursor.ts';
import type { Header } from '../shared/headers.ts';
import { badField, badRequest, quote } from '../error/httpError.ts';
import { hostOf, pathOf } from '../destination/place.ts';
import { shownUrl } from '../shared/urlCredentials.ts';
import { found, inAnyCase, latestDateMs, QueryReader, wholeOf, type Period } from './queryReader.ts';
import {
  logStates,
  type LogState,
  messageStates,
  type MessageState,
  messageKinds,
  type MessageKind,
  failureFunctionStates,
  type FailureFunctionState,
} from './states.ts';

export interface Filterable {
  readonly url: string;
  readonly messageId?: string | undefined;
  readonly topicName?: string | undefined;
  readonly queueName?: string | undefined;
  readonly scheduleId?: string | undefined;
  readonly callerIp?: string | undefined;
  readonly flowControlKey?: string | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly responseStatus?: number | undefined;
  /** Makes the reason of a failure, without its numbers and ids. */
  readonly errorOf?: (() => string) | undefined;
  readonly state?: string | undefined;
  readonly kind?: MessageKind | undefined;
  readonly run?:
    | {
        readonly runId: string;
        /** Unix milliseconds. */
        readonly createdAt: number;
        readonly url: string;
        readonly failureState?: FailureFunctionState | undefined;
      }
    | undefined;
}

/** The filters, each with the values of an entry that it checks. */
const fields = {
  url: (entry) => [shownUrl(entry.url)],
  host: (entry) => [hostOf(entry.url)],
  path: (entry) => [pathOf(entry.url)],
  messageId: (entry) => [entry.messageId],
  topicName: (entry) => [entry.topicName],
  queueName: (entry) => [entry.queueName],
  scheduleId: (entry) => [entry.scheduleId],
  callerIp: (entry) => [entry.callerIp],
  flowControlKey: (entry) => [entry.flowControlKey],
  label: (entry) => entry.labels ?? [],
  responseStatus: (entry) => [entry.responseStatus === undefined ? undefined : String(entry.responseStatus)],
  error: (entry) => [entry.errorOf?.()],
  state: (entry) => [entry.state],
  kind: (entry) => [entry.kind],
  workflowUrl: ({ run }) => [run && shownUrl(run.url)],
  workflowRunId: ({ run }) => [run?.runId],
  workflowCreatedAt: ({ run }) => [run && String(run.createdAt)],
  failureFunctionState: ({ run }) => [run?.failureState],
} as const satisfies Record<string, (entry: Filterable) => readonly (string | undefined)[]>;

export type Field = keyof typeof fields;

const common = [
  'topicName',
  'queueName',
  'url',
  'host',
  'path',
  'label',
  'flowControlKey',
  'scheduleId',
  'callerIp',
] as const satisfies readonly Field[];

export const known = {
  /** The messages that a bulk cancellation selects. */
  messages: common,
  listedMessages: [...common, 'messageId', 'state', 'kind'],
  dlq: [...common, 'messageId', 'responseStatus', 'error'],
  listedDlq: [...common, 'messageId', 'responseStatus', 'error'],
  deadRuns: [
    'workflowUrl',
    'workflowRunId',
    'workflowCreatedAt',
    'failureFunctionState',
    'label',
    'callerIp',
    'flowControlKey',
    'error',
    // Older clients send these.
    'url',
    'responseStatus',
  ],
  logs: [...common, 'messageId', 'state'],
} as const satisfies Record<string, readonly Field[]>;

export type List = keyof typeof known;

/** The filters for ids. If one is given, all others are ignored. */
export const idFilters = {
  messages: 'messageIds',
  listedMessages: 'messageIds',
  dlq: 'dlqIds',
  listedDlq: 'dlqIds',
  deadRuns: 'dlqIds',
  logs: 'messageIds',
} as const satisfies Record<List, string>;

const eachState = <State extends string>(
  states: readonly State[],
): Readonly<Record<string, readonly State[]>> => Object.fromEntries(states.map((state) => [state, [state]]));

/** The states that each value of the log's filter `state` includes. */
export const logStateFilters: Readonly<Record<string, readonly LogState[]>> = {
  ...eachState(logStates),
  IN_PROGRESS: ['HELD', 'ACTIVE', 'RETRY', 'ERROR'],
  CANCELLED: ['CANCELED'],
};

/** The same for messages. */
export const messageStateFilters: Readonly<Record<string, readonly MessageState[]>> = {
  ...eachState(messageStates),
  CANCELLED: ['CANCELED'],
  ALL: messageStates,
};

export interface Filter extends Period {
  /** If set, all other filters are ignored. */
  readonly ids: readonly string[] | undefined;
  readonly count: number | undefined;
  readonly cursor: string | undefined;
  /** Undefined means latest first, or a list with only one order. */
  readonly order: Order | undefined;
  /** Texts of which a message's body must contain one. Undefined if bodies are not searched. */
  readonly bodyTexts?: readonly string[] | undefined;
  readonly values: ReadonlyMap<Field, ReadonlySet<string>>;
}

export const longestPage = 100;
/** The largest `count` of a list or a bulk operation. */
export const mostAtOnce: Readonly<Record<List, number>> = {
  messages: 500,
  listedMessages: longestPage,
  dlq: longestPage,
  listedDlq: longestPage,
  // The limit of a bulk operation. A page of the list is not longer than others.
  deadRuns: 10_000,
  // The published clients promise this limit.
  logs: 1_000,
};

/** The lists that can be read in either order. */
export const orderedLists: ReadonlySet<List> = new Set(['dlq', 'listedDlq', 'deadRuns', 'logs']);
/** The lists whose message bodies can be searched. */
export const searchedLists: ReadonlySet<List> = new Set(['listedDlq', 'logs']);
export const mostIds = 1_000;
/** The highest HTTP status; 0 means no answer. */
export const highestStatus = 999;

/** Older spellings of the same filters. */
export const aliases: Readonly<Record<string, Field>> = {
  callerIP: 'callerIp',
  topic: 'topicName',
  urlGroup: 'topicName',
};

const grammar = {
  aliases,
  undivided: new Set(['cursor', 'url', 'path', 'workflowUrl', 'body', 'error']),
};

/**
 * Reads the query of a list or of a bulk operation.
 *
 * @param most the largest `count`, or `uncounted` if all matches are counted
 * @throws HttpError 400 for an unknown filter, an empty one, or an invalid value
 */
export function parseFilter(
  list: List,
  query: readonly Header[],
  most: number | 'uncounted' = mostAtOnce[list],
): Filter {
  const given = new QueryReader(query, grammar);
  const hasCount = most !== 'uncounted';
  const hasOrder = orderedLists.has(list) && hasCount;
  const isSearched = searchedLists.has(list);
  const ids = given.list(idFilters[list]);
  if (ids !== undefined && ids.length > mostIds) {
    throw badRequest('too_many_items', `${idFilters[list]} has ${ids.length} ids; allowed are ${mostIds}.`);
  }
  const filter = {
    ids,
    count: hasCount ? given.whole('count', 1, most) : undefined,
    cursor: given.single('cursor'),
    order: hasOrder ? given.order() : undefined,
    ...given.period(),
    bodyTexts: isSearched ? given.list('body') : undefined,
  };
  const values = new Map<Field, ReadonlySet<string>>();
  for (const field of known[list]) {
    const wanted = given.list(field);
    if (wanted !== undefined)
      values.set(field, new Set(wanted.flatMap((text) => valuesOf(list, field, text))));
  }
  given.end([
    ...known[list],
    ...(isSearched ? ['body'] : []),
    'fromDate',
    'toDate',
    ...(hasCount ? ['count'] : []),
    ...(hasOrder ? ['order'] : []),
    'cursor',
    idFilters[list],
  ]);
  return { ...filter, values };
}

/** Reads one value of a filter. */
function valuesOf(list: List, field: Field, text: string): string | readonly string[] {
  switch (field) {
    case 'state':
      return statesOf(list, text);
    case 'kind':
      return found(field, text, messageKinds);
    case 'failureFunctionState':
      return found(field, text, failureFunctionStates, inAnyCase);
    case 'responseStatus':
      return String(wholeOf(field, text, 0, highestStatus));
    case 'workflowCreatedAt':
      return String(wholeOf(field, text, 0, latestDateMs));
    case 'url':
    case 'workflowUrl':
      return shownUrl(text);
    default:
      return text;
  }
}

function statesOf(list: List, text: string): readonly string[] {
  const known: Readonly<Record<string, readonly string[]>> =
    list === 'logs' ? logStateFilters : messageStateFilters;
  const name = text.toUpperCase();
  const states = Object.hasOwn(known, name) ? known[name] : undefined;
  if (states === undefined) {
    throw badField(`state is ${quote(text)}; allowed are ${Object.keys(known).join(', ')}.`);
  }
  return states;
}

/** The fields that are attributes in rows of messages and of the log, with their names there. */
const attributes: Readonly<Partial<Record<Field, string>>> = {
  label: 'labels',
  topicName: 'topicName',
  queueName: 'queueName',
  scheduleId: 'scheduleId',
  callerIp: 'callerIp',
};

/**
 * Whether a row's entry may match, judged by a few attributes. In long lists few rows may, and reading each of them whole would
 * cost far more.
 *
 * @param textsOf the texts of an attribute, if known
 */
export const mayMatch = (
  filter: Filter,
  textsOf: (attribute: string) => readonly string[] | undefined,
): boolean =>
  [...filter.values].every(([field, wanted]) => {
    const attribute = attributes[field];
    const texts = attribute === undefined ? undefined : textsOf(attribute);
    return texts === undefined || texts.some((text) => wanted.has(text));
  });

/** Whether an entry has a wanted value in every filtered field. The lists themselves check dates. */
export function matches(filter: Filter, entry: Filterable): boolean {
  return [...filter.values].every(([field, wanted]) =>
    fields[field](entry).some((value) => value !== undefined && wanted.has(value)),
  );
}
