import type { Scope } from '../../../options/option.ts';
import type { List } from '../../../wire/filters.ts';
import type { RoutesOf } from '../../handler.ts';
import type { ApiFunction } from '../../route.ts';
import type { Errors } from './errors.ts';
import type { AnswerHeaders } from './headers.ts';
import type { NamedParameters, QueryParameter } from './parameters.ts';
import type { SchemaName, Shown } from './schemas.ts';

export const tags = {
  Publish: 'Sending messages.',
  Messages: 'Waiting messages.',
  Logs: 'The history of messages.',
  'URL groups': 'Names for several endpoints. A message to a group goes to each of its endpoints.',
  Queues: 'Deliver messages in order, with a limited parallelism. A queue exists from its first message on.',
  'Flow control': 'Keys that messages share. Each limits the deliveries at once and in a period.',
  Schedules: 'Messages that are published repeatedly.',
  'Dead letter queue': 'Messages whose last retry has failed.',
  'Workflow runs': 'Executions of functions that continue over many deliveries.',
  'Workflow events': 'Events that runs wait for.',
  'Workflow dead letters': 'Failed runs.',
  'Signing keys': 'The keys that sign deliveries.',
  Tokens: 'Tokens with a name and a scope, for colleagues and programs.',
  Alarms: 'Reports to an account when something is wrong.',
  Statistics: 'The account’s usage, and the outcomes of its messages.',
  Accounts: 'The users of the service, and their limits.',
  Service: 'The service’s own description.',
} as const;

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
  readonly tag: keyof typeof tags;
  readonly summary: string;
  /** Markdown. */
  readonly description?: string;
  readonly deprecated?: true;
  /** The kind of request whose configuration the operation reads, from headers or query parameters. */
  readonly configuration?: Exclude<Scope, 'callback'>;
  readonly filters?: List;
  /** The list whose filters select what the operation counts. All matches count, so it has no parameter `count`. */
  readonly counts?: List;
  readonly shared?: NamedParameters;
  readonly query?: Readonly<Record<string, QueryParameter>>;
  /** Whether the daily limit or budget may refuse the operation's messages. */
  readonly isHeldToUsage?: true;
  /** `bytes` are passed on unchanged: a message, or what the text describes. */
  readonly body?: 'bytes' | { readonly bytes: string } | ({ readonly required: boolean } & Json);
  readonly answers: Readonly<
    Record<number, { readonly description: string; readonly headers?: AnswerHeaders } & (Json | Text)>
  >;
  readonly errors?: Errors;
}

type NameOf<F extends ApiFunction> = F extends ApiFunction ? keyof RoutesOf<F> & string : never;

export type OperationsAt<Names extends NameOf<ApiFunction>> = {
  readonly [Name in Names]: Operation;
};

/** A missing route does not compile. */
export type Operations<F extends ApiFunction> = {
  readonly [Name in NameOf<F>]: Operation;
};
