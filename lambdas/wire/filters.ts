/**
 * Filters of lists and bulk operations. An entry matches if it has one of the wanted values for each filter.
 */
import type { Order, Place } from '../table/cursor.ts';
import type { Header } from '../shared/headers.ts';
import { badField, badRequest } from '../error/httpError.ts';
import { fieldOf, fields, known, type Field, type Filterable, type FilterField } from './filterFields.ts';
import { QueryReader, type Period } from './queryReader.ts';

export type List = Exclude<keyof typeof known, 'runs'>;

/** The filters for ids. If one is given, all others are ignored. */
export const idFilters = {
  messages: 'messageIds',
  listedMessages: 'messageIds',
  dlq: 'dlqIds',
  listedDlq: 'dlqIds',
  deadRuns: 'dlqIds',
  logs: 'messageIds',
} as const satisfies Record<List, string>;

export interface Filter extends Period {
  /** If set, all other filters are ignored. */
  readonly ids: readonly string[] | undefined;
  readonly count: number | undefined;
  readonly cursor: string | undefined;
  /** Where to begin, instead of a cursor. Clients cannot set it. */
  readonly behind?: Place | undefined;
  /** Undefined means latest first, or that the list has only one order. */
  readonly order: Order | undefined;
  /** The body of a message must contain one of these texts. Undefined if bodies are not searched. */
  readonly bodyTexts?: readonly string[] | undefined;
  readonly values: ReadonlyMap<Field, ReadonlySet<string>>;
  /** For the list of messages by due time: the period, and the number of parts in which to count. */
  readonly due?: (Period & { readonly steps: number | undefined }) | undefined;
}

export const mostSteps = 100;
export const longestPage = 100;
/** The largest `count` of a list or a bulk operation. */
export const mostAtOnce: Readonly<Record<List, number>> = {
  messages: 500,
  listedMessages: longestPage,
  dlq: longestPage,
  listedDlq: longestPage,
  // The limit of a bulk operation. A page of the list is as long as others.
  deadRuns: 10_000,
  // Published clients promise this limit.
  logs: 1_000,
};

export const orderedLists: ReadonlySet<List> = new Set(['dlq', 'listedDlq', 'deadRuns', 'logs']);
/** The lists whose message bodies can be searched. */
export const searchedLists: ReadonlySet<List> = new Set(['listedDlq', 'logs']);
export const mostIds = 1_000;

/** Older names of the same filters. */
export const aliases: Readonly<Record<string, Field>> = {
  callerIP: 'callerIp',
  topic: 'topicName',
  urlGroup: 'topicName',
};

const grammar = {
  aliases,
  undivided: new Set(['cursor', 'url', 'path', 'workflowUrl', 'body', 'error']),
};

/** The wanted values of each filter in a query. @throws HttpError 400 for an invalid value */
export const wantedIn = (
  given: QueryReader,
  list: keyof typeof known,
): ReadonlyMap<Field, ReadonlySet<string>> =>
  new Map(
    known[list].flatMap((field): (readonly [Field, ReadonlySet<string>])[] => {
      const { read = (text: string) => text } = fieldOf(list, field);
      const wanted = given.list(field)?.flatMap(read);
      return wanted === undefined ? [] : [[field, new Set(wanted)]];
    }),
  );

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
  const values = wantedIn(given, list);
  const due =
    list === 'listedMessages' && hasCount
      ? dueIn(given, ids !== undefined || unsorted.some((field) => values.has(field)))
      : undefined;
  given.end([
    ...(list === 'listedMessages' && hasCount ? ['order', 'from', 'to', 'steps'] : []),
    ...known[list],
    ...(isSearched ? ['body'] : []),
    'fromDate',
    'toDate',
    ...(hasCount ? ['count'] : []),
    ...(hasOrder ? ['order'] : []),
    'cursor',
    idFilters[list],
  ]);
  return { ...filter, values, due };
}

/** The filters that the list by due time does not have. */
const unsorted = ['messageId', 'responseStatus', 'error'] as const satisfies readonly Field[];

function dueIn(given: QueryReader, isUnsorted: boolean): Filter['due'] {
  const order = given.oneOf('order', ['due']);
  const period = given.period('from', 'to');
  const steps = given.whole('steps', 1, mostSteps);
  if (order === undefined) {
    const [other] =
      Object.entries({ from: period.fromDate, to: period.toDate, steps }).find(
        ([, value]) => value !== undefined,
      ) ?? [];
    if (other !== undefined) throw badField(`${other} is given; it is allowed only with order=due.`);
    return undefined;
  }
  if (isUnsorted) throw badField(`order is due; messageIds, ${unsorted.join(', ')} are not allowed with it.`);
  if (steps !== undefined && (period.fromDate === undefined || period.toDate === undefined))
    throw badField('steps is given; it is allowed only with from and to.');
  return { ...period, steps };
}

/**
 * Whether a row's entry may match, judged by a few attributes. Most rows of long lists do not match, and
 * parsing all of them would cost far more.
 *
 * @param textsOf returns the texts of an attribute, if they are known
 */
export const mayMatch = (
  filter: Filter,
  textsOf: (attribute: string) => readonly string[] | undefined,
): boolean =>
  [...filter.values].every(([name, wanted]) => {
    const { attribute }: FilterField = fields[name];
    const texts = attribute === undefined ? undefined : textsOf(attribute);
    return texts === undefined || texts.some((text) => wanted.has(text));
  });

/**
 * Whether an entry has a wanted value for each filter. Lists check dates themselves.
 *
 * @param begins the field whose values need only begin with a wanted text
 */
export const matches = (
  { values }: Pick<Filter, 'values'>,
  entry: Filterable,
  begins?: Field | false,
): boolean =>
  [...values].every(([name, wanted]) =>
    fields[name]
      .valuesOf(entry)
      .some(
        (value) =>
          value !== undefined &&
          (wanted.has(value) || (name === begins && [...wanted].some((text) => value.startsWith(text)))),
      ),
  );
