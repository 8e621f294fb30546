/** Filters of lists and bulk operations. An entry matches if each filter has one of its values. */
import { orders, type Order } from '../table/cursor.ts';
import type { Header } from '../shared/headers.ts';
import { badField, badRequest, quote } from '../error/httpError.ts';
import { hostOf, pathOf } from '../destination/place.ts';
import { shownUrl } from '../shared/urlCredentials.ts';
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

export interface Filter {
  /** If set, all other filters are ignored. */
  readonly ids: readonly string[] | undefined;
  /** Unix milliseconds, inclusive. */
  readonly fromDate: number | undefined;
  /** Unix milliseconds, inclusive. */
  readonly toDate: number | undefined;
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
/** Unix milliseconds: the upper bound of a number of 15 digits. */
export const latestDateMs = 999_999_999_999_999;
/** The highest HTTP status; 0 means no answer. */
export const highestStatus = 999;

/** Older spellings of the same filters. */
export const aliases: Readonly<Record<string, Field>> = {
  callerIP: 'callerIp',
  topic: 'topicName',
  urlGroup: 'topicName',
};

/** Parameters whose value is not split at commas. */
const mayHaveCommas: ReadonlySet<string> = new Set(['cursor', 'url', 'path', 'workflowUrl', 'body', 'error']);
const urls: ReadonlySet<Field> = new Set(['url', 'workflowUrl']);

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
  const given = new Map<string, string[]>();
  for (const [written, value] of query) {
    const name = Object.hasOwn(aliases, written) ? (aliases[written] ?? written) : written;
    const values = mayHaveCommas.has(name) ? [value] : value.split(',').map((part) => part.trim());
    if (values.some((part) => part === '')) {
      throw badField(`${written} is empty; a filter must have a value.`);
    }
    given.set(name, [...(given.get(name) ?? []), ...values]);
  }
  const take = (name: string): string[] | undefined => {
    const values = given.get(name);
    given.delete(name);
    return values;
  };
  const single = (name: string): string | undefined => {
    const values = take(name);
    if (values !== undefined && values.length > 1) throw badField(`${name} is given ${values.length} times.`);
    return values?.[0];
  };
  const whole = (name: string, least: number, most: number): number | undefined => {
    const text = single(name);
    return text === undefined ? undefined : wholeOf(name, text, least, most);
  };

  const hasOrder = orderedLists.has(list) && most !== 'uncounted';
  const ids = take(idFilters[list]);
  if (ids !== undefined && ids.length > mostIds) {
    throw badRequest('too_many_items', `${idFilters[list]} has ${ids.length} ids; allowed are ${mostIds}.`);
  }
  const filter = {
    ids,
    count: most === 'uncounted' ? undefined : whole('count', 1, most),
    cursor: single('cursor'),
    order: hasOrder ? orderOf(single('order')) : undefined,
    fromDate: whole('fromDate', 0, latestDateMs),
    toDate: whole('toDate', 0, latestDateMs),
    bodyTexts: searchedLists.has(list) ? take('body') : undefined,
  };
  checkPeriod(filter);
  const values = new Map<Field, ReadonlySet<string>>();
  for (const [name, wanted] of given) {
    const field = known[list].find((one) => one === name);
    if (field === undefined) {
      const all = [
        ...known[list],
        ...(searchedLists.has(list) ? ['body'] : []),
        'fromDate',
        'toDate',
        ...(most === 'uncounted' ? [] : ['count']),
        ...(hasOrder ? ['order'] : []),
        'cursor',
        idFilters[list],
      ];
      throw badRequest('field_unknown', `${quote(name)} is not a filter here; known are ${all.join(', ')}.`);
    }
    if (field === 'state') values.set(field, new Set(wanted.flatMap((text) => statesOf(list, text))));
    else if (field === 'kind') values.set(field, new Set(wanted.map(kindOf)));
    else if (field === 'failureFunctionState') values.set(field, new Set(wanted.map(failureStateOf)));
    else if (field === 'responseStatus' || field === 'workflowCreatedAt') {
      const highest = field === 'responseStatus' ? highestStatus : latestDateMs;
      values.set(field, new Set(wanted.map((text) => String(wholeOf(field, text, 0, highest)))));
    } else values.set(field, new Set(urls.has(field) ? wanted.map(shownUrl) : wanted));
  }
  return { ...filter, values };
}

/** @throws HttpError 400 for a period that ends before it begins */
export function checkPeriod({ fromDate = 0, toDate = Infinity }: Pick<Filter, 'fromDate' | 'toDate'>): void {
  if (fromDate > toDate) {
    throw badField(
      `fromDate is ${fromDate}, which is after toDate, ${toDate}; allowed is the same or earlier.`,
    );
  }
}

/** @throws HttpError 400 */
export function wholeOf(name: string, text: string, least: number, most: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw badField(`${name} is ${quote(text)}; allowed is a whole number from ${least} to ${most}.`);
}

/** @throws HttpError 400 */
export function orderOf(text: string | undefined): Order | undefined {
  if (text === undefined) return undefined;
  const order = orders.find((known) => known === text);
  if (order === undefined) throw badField(`order is ${quote(text)}; allowed are ${orders.join(', ')}.`);
  return order;
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

function kindOf(text: string): string {
  const kind = messageKinds.find((known) => known === text);
  if (kind === undefined) throw badField(`kind is ${quote(text)}; allowed are ${messageKinds.join(', ')}.`);
  return kind;
}

function failureStateOf(text: string): string {
  const state = failureFunctionStates.find((known) => known === text.toUpperCase());
  if (state === undefined) {
    throw badField(
      `failureFunctionState is ${quote(text)}; allowed are ${failureFunctionStates.join(', ')}.`,
    );
  }
  return state;
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
