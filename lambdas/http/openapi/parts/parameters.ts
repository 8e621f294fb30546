/** The parameters of operations, from the tables of their parsers. */
import { orders } from '../../../table/cursor.ts';
import { mostSearched, searchBudgetMs } from '../../../shared/bounds.ts';
import { secondMs } from '../../../shared/clock.ts';
import { callbackScopes, type CallbackScope } from '../../../shared/config.ts';
import { headerName } from '../../../shared/headers.ts';
import { settings } from '../../../options/described.ts';
import type { Scope, Setting } from '../../../options/option.ts';
import { defaultPrefix } from '../../../request/dialect.ts';
import {
  aliases,
  idFilters,
  longestPage,
  mostAtOnce,
  orderedLists,
  searchedLists,
  mostIds,
  mostSteps,
  type List,
} from '../../../wire/filters.ts';
import {
  dateSchema,
  fieldOf,
  fields,
  known,
  textSchema,
  valuesSchema,
  type Field,
  type FilterField,
} from '../../../wire/filterFields.ts';
import { dlqId, messageId } from './examples.ts';
import type { PathVariable } from './variables.ts';

export interface Parameter extends PathVariable {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: true;
  readonly deprecated?: true;
}

/** The key is the name with which operations refer to the parameter. */
export type NamedParameters = Readonly<Record<string, Parameter>>;

function valueOf({ schema, example }: Setting): unknown {
  return schema.type === 'string' ? example : JSON.parse(example);
}

export type QueryParameter = PathVariable & Pick<Parameter, 'required'>;

/** Parameters of the list of messages by due time. */
export const dueParameters: Readonly<Record<string, QueryParameter>> = {
  order: {
    description: 'Lists waiting messages by the time at which they are due.',
    schema: { type: 'string', enum: ['due'] },
    example: 'due',
  },
  from: {
    description: 'With `order=due`: the earliest due time, in Unix milliseconds, inclusive.',
    schema: dateSchema,
    example: 1_767_225_600_000,
  },
  to: {
    description: 'With `order=due`: the latest due time, in Unix milliseconds, inclusive.',
    schema: dateSchema,
    example: 1_767_312_000_000,
  },
  steps: {
    description:
      'With `order=due`, `from` and `to`: also counts what is due in each of so many equal parts of the period.',
    schema: { type: 'integer', minimum: 1, maximum: mostSteps },
    example: 24,
  },
};

type Named = readonly [key: string, parameter: Parameter];

/** A configuration header, and the query parameter that replaces it. */
function bothForms(name: string, entry: Setting, description: string): readonly Named[] {
  const header = headerName(defaultPrefix, name);
  const key = name.replace('-*', '');
  const common = { schema: entry.schema, example: valueOf(entry) };
  return [
    [`header.${key}`, { name: header, in: 'header', description, ...common }],
    [
      `query.${key}`,
      {
        name: header.toLowerCase(),
        in: 'query',
        description: `The header \`${header}\`, which takes precedence, as a query parameter.`,
        ...common,
      },
    ],
  ];
}

const callbacksIn: Readonly<Record<Exclude<Scope, 'callback'>, readonly CallbackScope[]>> = {
  message: callbackScopes,
  retry: callbackScopes,
  schedule: callbackScopes,
  trigger: ['failure-callback'],
  resume: [],
};

function entriesFor(scope: Scope): readonly (readonly [name: string, entry: Setting])[] {
  const all: readonly (readonly [string, Setting])[] = Object.entries(settings);
  // A schedule repeats a publish, so it has all of a publish's parameters.
  const wanted: readonly Scope[] = scope === 'schedule' ? ['message', 'schedule'] : [scope];
  return all.filter(([, { scopes }]) => scopes.some((one) => wanted.includes(one)));
}

export function configurationParameters(scope: Exclude<Scope, 'callback'>): NamedParameters {
  const own = entriesFor(scope).flatMap(([name, entry]) => bothForms(name, entry, entry.description));
  const ofCallbacks = callbacksIn[scope].flatMap((callback) =>
    entriesFor('callback').flatMap(([name, entry]) => {
      const [inner, outer] = [name, callback].map((one) => headerName(defaultPrefix, one));
      const description = `\`${inner ?? ''}\` for the message that \`${outer ?? ''}\` asks for.`;
      return bothForms(`${callback}-${name}`, entry, description);
    }),
  );
  return Object.fromEntries([...own, ...ofCallbacks]);
}

/** Filters that accept more than one value. */
export const several = 'May be repeated or separated by commas: any of the values matches.';

function filterParameter(name: string, { description, schema, example }: FilterField): Parameter {
  return {
    name,
    in: 'query',
    description: `${description} ${several}`,
    schema: { type: 'array', items: schema },
    example: [example],
  };
}

/** The parameters of some filters of a list. */
export const fieldParameters = (
  list: keyof typeof known,
  names: readonly Field[] = known[list],
): NamedParameters =>
  Object.fromEntries(
    names.map((name): Named => {
      const field = fieldOf(list, name);
      return [`filter.${field === fields[name] ? '' : `${list}.`}${name}`, filterParameter(name, field)];
    }),
  );

const bodyParameter: NamedParameters = {
  'filter.body': {
    name: 'body',
    in: 'query',
    description: `A text that the message’s body contains, exactly. If repeated, any of the texts. Bodies are read one by one: at most ${mostSearched} rows that match the other filters, newest first, for at most ${searchBudgetMs / secondMs} s. \`searched\` is their number. A cursor continues from there. Redacted bodies never match.`,
    schema: { type: 'array', items: textSchema },
    example: ['"orderId":4711'],
  },
};

/** The configured names of the parameter `count`. Lists with the same name have the same limit. */
const countNames: Readonly<Record<List, string>> = {
  messages: 'bulk.count',
  listedMessages: 'page.count',
  dlq: 'page.count',
  listedDlq: 'page.count',
  deadRuns: 'bulk.dlqCount',
  logs: 'page.logCount',
};

export const countParameter = (list: List): NamedParameters => ({
  [countNames[list]]: {
    name: 'count',
    in: 'query',
    description:
      list === 'messages'
        ? `The most messages to cancel, by default all. Published clients send ${longestPage} if they mean all, so it means all here, too.`
        : list === 'logs'
          ? `The most entries on a page, by default ${mostAtOnce.logs}.`
          : `The most entries on a page, by default ${longestPage}; of a bulk operation, by default all.`,
    schema: { type: 'integer', minimum: 1, maximum: mostAtOnce[list] },
    example: 20,
  },
});

export const orderParameter: NamedParameters = {
  'page.order': {
    name: 'order',
    in: 'query',
    description: 'Which entries come first. Default: `latestFirst`. A cursor continues in its own order.',
    schema: { type: 'string', enum: orders },
    example: 'earliestFirst',
  },
};

export const pagingOf = (list: List): NamedParameters => ({
  'page.fromDate': {
    name: 'fromDate',
    in: 'query',
    description: 'Unix milliseconds, inclusive.',
    schema: dateSchema,
    example: 1_767_225_600_000,
  },
  'page.toDate': {
    name: 'toDate',
    in: 'query',
    description: 'Unix milliseconds, inclusive.',
    schema: dateSchema,
    example: 1_767_311_999_999,
  },
  ...countParameter(list),
  ...(orderedLists.has(list) && orderParameter),
  'page.cursor': {
    name: 'cursor',
    in: 'query',
    description: 'Where the previous answer ended, exactly as it was given.',
    schema: { type: 'string', minLength: 1 },
  },
});

/** Part of the description of operations that count. */
export const counting =
  'It counts for five seconds and then answers with its numbers and a cursor: add up the numbers of all answers.';

/** Leaves out `count` and `order`, for operations that count all matches. */
export const uncounted = (parameters: NamedParameters): NamedParameters =>
  Object.fromEntries(
    Object.entries(parameters).filter(([, { name }]) => name !== 'count' && name !== 'order'),
  );

export const ofDeliveries: NamedParameters = {
  ...fieldParameters('messages'),
  ...Object.fromEntries(
    Object.entries(pagingOf('messages')).filter(([, { name }]) => name === 'fromDate' || name === 'toDate'),
  ),
};

export function filterParameters(list: List): NamedParameters {
  const ids = idFilters[list];
  const older = Object.entries(aliases).filter(([, field]) => known[list].some((one) => one === field));
  return {
    ...fieldParameters(list),
    ...Object.fromEntries(
      older.map(([alias, field]): Named => [
        `filter.${alias}`,
        {
          ...filterParameter(alias, fieldOf(list, field)),
          description: `\`${field}\`, in an older spelling.`,
          deprecated: true,
        },
      ]),
    ),
    ...(searchedLists.has(list) && bodyParameter),
    ...pagingOf(list),
    [`filter.${ids}`]: {
      name: ids,
      in: 'query',
      description: `Up to ${mostIds} ids, repeated or separated by commas. Other filters are then ignored.`,
      schema: { type: 'array', items: valuesSchema },
      example: [ids === 'dlqIds' ? dlqId : messageId],
    },
  };
}
