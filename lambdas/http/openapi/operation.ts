import type { Scope } from '../../domain/configuration.ts';
import type { List } from '../../domain/filters.ts';
import type { ApiFunction, RoutesOf } from '../routes.ts';
import type { Errors } from './errors.ts';
import type { AnswerHeaders } from './headers.ts';
import type { PathVariable, QueryParameter } from './parameters.ts';
import type { SchemaName, Shown } from './schemas.ts';

/** What operations are sorted by. */
export const tags = {
  Publish: 'Sending messages.',
  Messages: 'Messages that wait for their delivery.',
  Logs: 'What happened to messages.',
  'URL groups': 'Names for several endpoints: what is published to one is published to each.',
  Queues: 'Names that messages are sent under; each is there from its first message on.',
  Schedules: 'Messages that are published again and again.',
  'Dead letter queue': 'Messages whose last retry has failed.',
  'Signing keys': 'What deliveries are signed with.',
  Accounts: 'Who may use the service, and how much.',
  Service: 'What the service says of itself.',
} as const;

/** A JSON body, with an example that the compiler checks. */
type Json = {
  readonly [Name in SchemaName]: { readonly schema: Name; readonly example: Shown<Name> };
}[SchemaName];

/** The names of a path's variables. */
type VariableOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `${infer Plain}+` ? Plain : Name) | VariableOf<Rest>
  : never;

/** One route as it is described; what follows from the route table and from `errors.ts` is not repeated. */
export interface Operation<Variable extends string = string> {
  readonly id: string;
  readonly tag: keyof typeof tags;
  readonly summary: string;
  /** Markdown. */
  readonly description?: string;
  readonly deprecated?: true;
  readonly variables: Readonly<Record<Variable, PathVariable>>;
  /** It reads configuration headers, and the query parameters that stand for them. */
  readonly configuration?: Exclude<Scope, 'callback'>;
  readonly filters?: List;
  /** Query parameters of its own. */
  readonly query?: Readonly<Record<string, QueryParameter>>;
  /** It is refused when the messages that it makes are too many for the account's day or budget. */
  readonly isHeldToUsage?: true;
  /** `bytes` are passed on as they are. */
  readonly body?: 'bytes' | ({ readonly required: boolean } & Json);
  readonly answers: Readonly<
    Record<number, { readonly description: string; readonly headers?: AnswerHeaders } & Json>
  >;
  /** Refusals of its own; the others are added. */
  readonly errors?: Errors;
}

/** The description of each route of a function: the compiler sees to it that none is forgotten. */
export type Operations<F extends ApiFunction> = {
  readonly [R in RoutesOf<F> as `${R['method']} ${R['path']}`]: Operation<VariableOf<R['path']>>;
};
