import type { Scope } from '../../../options/option.ts';
import type { List } from '../../../wire/filters.ts';
import type { RouteTable } from '../../route.ts';
import type { Errors } from './errors.ts';
import type { AnswerHeaders } from './headers.ts';
import type { NamedParameters, QueryParameter } from './parameters.ts';
import type { SchemaName, Shown } from './schemas.ts';

/**
 * The tags, in the order of the document. An operation has the tag with which its path begins, after the
 * version.
 */
export const tags: readonly (readonly [name: string, description: string, paths: RegExp])[] = [
  ['Publish', 'Sending messages.', /^\/v2\/(publish|enqueue|batch$)/],
  ['Messages', 'Waiting messages.', /^\/v2\/(messages|complete|pull|extend)/],
  ['Bulk operations', 'Operations on many entries that run in the background.', /^\/v2\/(bulk)/],
  ['Logs', 'The history of messages.', /^\/v2\/(logs|events)/],
  [
    'URL groups',
    'Names for several endpoints. A message to a group goes to each of its endpoints.',
    /^\/v2\/(topics)/,
  ],
  [
    'Queues',
    'Deliver messages in order, with a limited parallelism. A queue exists from its first message on.',
    /^\/v2\/(queues)/,
  ],
  [
    'Flow control',
    'Keys that messages share. Each limits the deliveries at once and in a period.',
    /^\/v2\/(flowControl|globalParallelism|circuits)/,
  ],
  ['Holds', 'Stop deliveries for a while, without losing any.', /^\/v2\/(hosts|labels|holds?$|release$)/],
  ['Schedules', 'Messages that are published repeatedly.', /^\/v2\/(schedules|cron)/],
  ['Dead letter queue', 'Messages whose last retry has failed.', /^\/v2\/(dlq)/],
  [
    'Workflow runs',
    'Executions of functions that continue over many deliveries.',
    /^\/v2\/(trigger|batch\/trigger|workflows\/(?!dlq|hooks))/,
  ],
  ['Workflow events', 'Events that runs wait for.', /^\/v2\/(wait|notify|workflows\/hooks)/],
  ['Workflow dead letters', 'Failed runs.', /^\/v2\/(workflows\/dlq)/],
  ['Signing keys', 'The keys that sign deliveries.', /^\/v2\/(keys|rotate$)/],
  ['Tokens', 'Tokens with a name and a scope, for colleagues and programs.', /^\/v2\/(tokens)/],
  ['Alarms', 'Reports to an account when something is wrong.', /^\/v2\/(alarms)/],
  [
    'Statistics',
    'The account’s usage, and the outcomes of its messages.',
    /^\/v2\/(search|stats|metrics|audit)/,
  ],
  ['Accounts', 'The users of the service, and their limits.', /^\/v2\/(\{brand\}\/(?!openapi))/],
  ['Service', 'The service’s own description.', /^\/v2\/(health|(\{brand\}\/)?openapi)/],
];

/** The compiler checks the example. */
export type Json = {
  readonly [Name in SchemaName]: { readonly schema: Name; readonly example: Shown<Name> };
}[SchemaName];

export interface Text {
  readonly type: string;
  readonly example: string;
}

export interface Operation {
  readonly id: string;
  readonly summary: string;
  /** Markdown. */
  readonly description?: string;
  readonly deprecated?: true;
  /** The kind of request whose configuration the operation reads, from headers or query parameters. */
  readonly configuration?: Exclude<Scope, 'callback'>;
  readonly filters?: List;
  /**
   * The list whose filters select the entries that the operation counts. There is no parameter `count`,
   * because all matches count.
   */
  readonly counts?: List;
  readonly shared?: NamedParameters;
  readonly query?: Readonly<Record<string, QueryParameter>>;
  /** Whether the daily limit or budget may refuse the operation's messages. */
  readonly isHeldToUsage?: true;
  /** `bytes` are passed on unchanged. They are a message, or as the text describes. */
  readonly body?: 'bytes' | { readonly bytes: string } | ({ readonly required: boolean } & Json);
  readonly answers: Readonly<
    Record<number, { readonly description: string; readonly headers?: AnswerHeaders } & (Json | Text)>
  >;
  readonly errors?: Errors;
}

/** The descriptions of all routes in a table. A missing one does not compile. */
export type Operations<Table extends RouteTable> = { readonly [Name in keyof Table]: Operation };
