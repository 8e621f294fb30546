/** The parameters of operations: configuration, filters and paging, from the tables that their parsers use. */
import {
  callbackScopes,
  configuration,
  type ConfigurationEntry,
  type Scope,
  type ValueSchema,
} from '../../domain/configuration.ts';
import { defaultPrefix, headerName } from '../../domain/dialect.ts';
import {
  aliases,
  idFilters,
  known,
  longestPage,
  mostIds,
  stateFilters,
  type Field,
  type List,
} from '../../domain/filters.ts';
import { namePattern } from '../../domain/names.ts';
import { accountId, dlqId, messageId } from './examples.ts';

type ListSchema = ValueSchema | { readonly type: 'array'; readonly items: ValueSchema };

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly required?: true;
  readonly deprecated?: true;
  readonly schema: ListSchema;
  readonly example?: unknown;
}

/** Parameters by the names under which the description's operations refer to them. */
export type NamedParameters = Readonly<Record<string, Parameter>>;

function valueOf({ schema, example }: ConfigurationEntry): unknown {
  return schema.type === 'string' ? example : JSON.parse(example);
}

/** A variable of a path. */
export type PathVariable = Pick<Parameter, 'description' | 'schema' | 'example'>;
/** A query parameter that one operation has. */
export type QueryParameter = PathVariable;

/** Names of URL groups and queues. */
const nameSchema: ValueSchema = { type: 'string', pattern: namePattern.source };

/** Variables that several operations have. */
export const variables = {
  destination: {
    description:
      'A URL that starts with `http://` or `https://`, as it is or percent-encoded as a whole, or the name of a URL group.',
    schema: { type: 'string' },
    example: 'https://example.com/orders',
  },
  queueName: { description: 'The queue’s name.', schema: nameSchema, example: 'mail' },
  messageId: { description: 'The message’s id.', schema: { type: 'string' }, example: messageId },
  dlqId: { description: 'The dead letter’s id.', schema: { type: 'string' }, example: dlqId },
  schedule: { description: 'The schedule’s id.', schema: nameSchema, example: 'nightly-report' },
  groupName: { description: 'The URL group’s name.', schema: nameSchema, example: 'orders' },
  brand: {
    description:
      '`svc`, or what stands for another dialect that the deployment accepts: `qstash` for that of `Upstash`.',
    schema: { type: 'string' },
    example: 'svc',
  },
  accountId: { description: 'The account’s id, a UUID.', schema: { type: 'string' }, example: accountId },
} as const satisfies Record<string, PathVariable>;

type Named = readonly [key: string, parameter: Parameter];

/** A configuration header, and the query parameter that stands for it. */
function bothForms(name: string, entry: ConfigurationEntry, description: string): readonly Named[] {
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
        description: `The header \`${header}\`, which wins, as a query parameter.`,
        ...common,
      },
    ],
  ];
}

function entriesFor(scope: Scope): readonly (readonly [name: string, entry: ConfigurationEntry])[] {
  const all: readonly (readonly [string, ConfigurationEntry])[] = Object.entries(configuration);
  // A schedule is a publish that is made again: it takes all that one takes, and more.
  const wanted: readonly Scope[] = scope === 'schedule' ? ['message', 'schedule'] : [scope];
  return all.filter(([, { scopes }]) => scopes.some((one) => wanted.includes(one)));
}

/** All that a message, or the retry of one, can be configured with, its callbacks included. */
export function configurationParameters(scope: Exclude<Scope, 'callback'>): NamedParameters {
  const own = entriesFor(scope).flatMap(([name, entry]) => bothForms(name, entry, entry.description));
  const ofCallbacks = callbackScopes.flatMap((callback) =>
    entriesFor('callback').flatMap(([name, entry]) => {
      const [inner, outer] = [name, callback].map((one) => headerName(defaultPrefix, one));
      const description = `\`${inner ?? ''}\` for the message that \`${outer ?? ''}\` asks for.`;
      return bothForms(`${callback}-${name}`, entry, description);
    }),
  );
  return Object.fromEntries([...own, ...ofCallbacks]);
}

interface FilterValue {
  readonly description: string;
  readonly schema: ValueSchema;
  readonly example: string | number;
}

const filterValues: Readonly<Record<Field, FilterValue>> = {
  url: {
    description: 'The destination, exactly.',
    schema: { type: 'string', format: 'uri' },
    example: 'https://example.com/orders',
  },
  host: {
    description: 'The destination’s host, with its port where the URL has one.',
    schema: { type: 'string' },
    example: 'example.com',
  },
  path: { description: 'The destination’s path.', schema: { type: 'string' }, example: '/orders' },
  messageId: {
    description: 'The message’s id.',
    schema: { type: 'string' },
    example: messageId,
  },
  topicName: {
    description: 'The URL group that it was published to.',
    schema: { type: 'string' },
    example: 'orders',
  },
  queueName: { description: 'The queue that it went through.', schema: { type: 'string' }, example: 'mail' },
  scheduleId: {
    description: 'The schedule that made it.',
    schema: { type: 'string' },
    example: 'nightly-report',
  },
  callerIp: {
    description: 'The address it was published from.',
    schema: { type: 'string' },
    example: '203.0.113.7',
  },
  flowControlKey: { description: 'Its flow-control key.', schema: { type: 'string' }, example: 'tenant-7' },
  label: { description: 'One of its labels.', schema: { type: 'string' }, example: 'nightly' },
  responseStatus: {
    description: 'The status of the last answer; 0 where there was none.',
    schema: { type: 'integer', minimum: 0 },
    example: 503,
  },
  state: {
    description:
      'The entry’s state. `IN_PROGRESS` stands for `ACTIVE`, `RETRY` and `ERROR`; `CANCELED` for `CANCELLED`.',
    schema: { type: 'string', enum: Object.keys(stateFilters) },
    example: 'DELIVERED',
  },
};

const several = 'Repeated, or separated by commas, any of the values will do.';

function filterParameter(name: string, { description, schema, example }: FilterValue): Parameter {
  return {
    name,
    in: 'query',
    description: `${description} ${several}`,
    schema: { type: 'array', items: schema },
    example: [example],
  };
}

/** Where a list begins and ends, whatever it is a list of. */
const paging: NamedParameters = {
  'page.fromDate': {
    name: 'fromDate',
    in: 'query',
    description: 'Unix milliseconds, inclusive.',
    schema: { type: 'integer', format: 'int64', minimum: 0 },
    example: 1_767_225_600_000,
  },
  'page.toDate': {
    name: 'toDate',
    in: 'query',
    description: 'Unix milliseconds, inclusive.',
    schema: { type: 'integer', format: 'int64', minimum: 0 },
    example: 1_767_311_999_999,
  },
  'page.count': {
    name: 'count',
    in: 'query',
    description: `The most entries of a page, by default ${longestPage}; of a bulk operation, by default all.`,
    schema: { type: 'integer', minimum: 1, maximum: longestPage },
    example: 20,
  },
  'page.cursor': {
    name: 'cursor',
    in: 'query',
    description: 'Where the answer before left off, exactly as it was answered.',
    schema: { type: 'string' },
  },
};

/** All that a list or a bulk operation can be narrowed by. */
export function filterParameters(list: List): NamedParameters {
  const ids = idFilters[list];
  const older = Object.entries(aliases).filter(([, field]) => known[list].some((one) => one === field));
  return {
    ...Object.fromEntries(
      known[list].map((field) => [`filter.${field}`, filterParameter(field, filterValues[field])]),
    ),
    ...Object.fromEntries(
      older.map(([alias, field]): Named => [
        `filter.${alias}`,
        {
          ...filterParameter(alias, filterValues[field]),
          description: `\`${field}\`, in an older spelling.`,
          deprecated: true,
        },
      ]),
    ),
    ...paging,
    [`filter.${ids}`]: {
      name: ids,
      in: 'query',
      description: `Up to ${mostIds} ids, repeated or separated by commas. Given these, nothing else narrows.`,
      schema: { type: 'array', items: { type: 'string' } },
      example: [list === 'dlq' ? dlqId : messageId],
    },
  };
}
