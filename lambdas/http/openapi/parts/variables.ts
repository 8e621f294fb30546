import type { ValueSchema } from '../../../options/option.ts';
import { longestFlowControlKey } from '../../../shared/bounds.ts';
import { isVariable, segmentsOf } from '../../findRoute.ts';
import { namePattern } from '../../../value/names.ts';
import { accountId, bulkId, dlqId, messageId, namedToken, runId } from './examples.ts';

type ListSchema = ValueSchema | { readonly type: 'array'; readonly items: ValueSchema };

export interface PathVariable {
  readonly description: string;
  readonly schema: ListSchema;
  readonly example?: unknown;
}

/** How a URL in a path begins. Clients and proxies may encode all of it, or merge two slashes. */
const schemeInPath = '[hH][tT][tT][pP][sS]?(:|%3[aA])';

const nameSchema: ValueSchema = { type: 'string', pattern: namePattern.source };

const destination: PathVariable = {
  description:
    'A URL that starts with `http://` or `https://`, as it is or percent-encoded as a whole, `pull:<name>`, or the name of a URL group.',
  schema: { type: 'string', pattern: `^(${schemeInPath}.+|(pull:)?[A-Za-z0-9._-]+)$` },
  example: 'https://example.com/orders',
};
const queueName: PathVariable = { description: 'The queue’s name.', schema: nameSchema, example: 'mail' };
const account: PathVariable = {
  description: 'The account’s id, a UUID.',
  schema: { type: 'string' },
  example: accountId,
};
const eventSchema: ValueSchema = { type: 'string', minLength: 1, maxLength: 256 };

/** Variables by the segment of the path, or by this segment and the one before if that makes a difference. */
const variables: Readonly<Record<string, PathVariable>> = {
  '{destination+}': destination,
  '{schedule+}': destination,
  '{queueName}': queueName,
  'queues/{name}': queueName,
  '{key}': {
    description: 'The key, percent-encoded, as in its messages’ `Svc-Flow-Control-Key`.',
    schema: { type: 'string', minLength: 1, maxLength: longestFlowControlKey },
    example: 'tenant-7',
  },
  '{host}': {
    description: 'The host, percent-encoded, as the list shows it.',
    schema: { type: 'string', minLength: 1, maxLength: 259 },
    example: 'hooks.example.com',
  },
  '{label}': {
    description: 'The label, percent-encoded.',
    schema: { type: 'string', minLength: 1 },
    example: 'nightly',
  },
  '{messageId}': { description: 'The message’s id.', schema: { type: 'string' }, example: messageId },
  '{completion}': {
    description:
      'The end of the URL in `Svc-Complete-Url`, or the `completion` of a message that a client took.',
    schema: { type: 'string' },
    example: 'WyJmMmMwYTNhNCIsIm1zZ18wMUtEVkROQTAwTTNBOVgyQzRENkY4R0hKSyIsMCwxXQ.3uYq',
  },
  '{bulkId}': {
    description: 'The operation’s id.',
    schema: { type: 'string' },
    example: bulkId,
  },
  '{dlqId}': { description: 'The dead letter’s id.', schema: { type: 'string' }, example: dlqId },
  '{schedule}': { description: 'The schedule’s id.', schema: nameSchema, example: 'nightly-report' },
  'pull/{name}': {
    description: 'The name in the destinations `pull:<name>`.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,100}$' },
    example: 'laptop',
  },
  'topics/{name}': { description: 'The URL group’s name.', schema: nameSchema, example: 'orders' },
  '{brand}': {
    description: '`svc`, or the word for another accepted dialect: `qstash` for `Upstash`.',
    schema: { type: 'string' },
    example: 'svc',
  },
  'trigger/{destination+}': {
    description:
      'The URL of the workflow’s endpoint: it starts with `http://` or `https://`, as it is or percent-encoded as a whole.',
    schema: { type: 'string', pattern: `^${schemeInPath}.+` },
    example: 'https://example.com/workflows/orders',
  },
  '{runId}': { description: 'The run’s id.', schema: { type: 'string' }, example: runId },
  '{eventId+}': {
    description: 'The event’s id, percent-encoded. A slash in it may stay as it is.',
    schema: eventSchema,
    example: 'order-4711-paid',
  },
  '{eventId}': { description: 'The webhook’s id.', schema: eventSchema, example: 'evt_4Tq8Zk0mJx7p2Yw' },
  '{event+}': {
    description: 'The event’s id, or a run’s id, a slash and the event’s id: then only that run is notified.',
    schema: { type: 'string' },
    example: `${runId}/order-4711-paid`,
  },
  '{tokenId}': { description: 'The named token’s id.', schema: { type: 'string' }, example: namedToken.id },
  '{account}': account,
  '{id}': account,
};

/** @throws Error if a variable of the path is not described */
export const variablesOf = (path: string): readonly (readonly [name: string, variable: PathVariable])[] =>
  segmentsOf(path).flatMap((segment, place, all) => {
    if (!isVariable(segment)) return [];
    const variable = variables[`${all[place - 1]}/${segment}`] ?? variables[segment];
    if (variable === undefined) throw new Error(`The variable ${segment} of ${path} is not described.`);
    return [[segment.replace(/[{}+]/g, ''), variable]];
  });
