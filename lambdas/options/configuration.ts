/**
 * All settings of a request: the names that the parsers read, their meaning and their values. The API's description is made
 * from this table.
 */
import {
  durationForm,
  headerTextForm,
  labelsForm,
  longestDeduplicationId,
  longestExpression,
  longestFlowControlKey,
  longestLabel,
  mostLabels,
  nameForm,
  positiveDurationForm,
} from '../shared/bounds.ts';
import { methods } from '../value/method.ts';

/** The form of a value, in the terms of JSON Schema. */
export interface ValueSchema {
  readonly type: 'string' | 'integer' | 'boolean';
  readonly enum?: readonly string[];
  readonly format?: 'uri' | 'int64';
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/**
 * The kinds of request that may give a setting: a publish; a publish for one of its callbacks (behind `callback-` and
 * `failure-callback-`); the retry of a dead letter; a schedule, which may also give all that a publish may; the start of a
 * workflow's run without a client; or the dead letter of a run that is resumed or restarted.
 */
export type Scope = 'message' | 'callback' | 'retry' | 'schedule' | 'trigger' | 'resume';

export interface ConfigurationEntry {
  readonly description: string;
  readonly schema: ValueSchema;
  readonly example: string;
  readonly scopes: readonly Scope[];
}

/** The calls below are marked as pure, so that a bundle which takes only names from the table leaves its texts out. */
const describeLabels = (): string =>
  `Labels, separated by commas, by which messages, logs and dead letters can be found: up to ${mostLabels}, of up to ${longestLabel} characters each.`;

/** The settings by canonical name. `*` stands for any text. */
export const configuration = {
  method: {
    description: 'The HTTP method of the delivery. Default: `POST`.',
    schema: { type: 'string', enum: methods },
    example: 'PUT',
    scopes: ['message', 'callback', 'retry'],
  },
  timeout: {
    description:
      'How long the destination may take to answer: whole numbers with the units `s`, `m` and `h`. Default, and most: the account’s `timeout`.',
    schema: { type: 'string', pattern: /* @__PURE__ */ positiveDurationForm('smh') },
    example: '10s',
    scopes: ['message', 'callback', 'retry'],
  },
  retries: {
    description:
      'How often a failed delivery is tried again; at most the account’s `max_retries`. Default: 3 on the free plan, 5 on the paid one; for callbacks, the message’s; for runs of workflows, 3.',
    schema: { type: 'integer', minimum: 0 },
    example: '2',
    scopes: ['message', 'callback', 'retry', 'trigger', 'resume'],
  },
  'retry-delay': {
    description:
      'Milliseconds before a retry, as arithmetic over `retried` (0 for the first retry): numbers, `+ - * / %`, parentheses, `pow`, `exp`, `sqrt`, `abs`, `floor`, `ceil`, `round`, `min`, `max`. The value is kept between 0 and one day, and rounded up to whole seconds: `300` waits 1 s. Default: 12 s, 2 m 28 s, 30 m 8 s, 6 h 7 m, 24 h.',
    schema: { type: 'string', minLength: 1, maxLength: longestExpression },
    example: 'pow(2, retried) * 1000',
    scopes: ['message', 'callback', 'retry', 'trigger', 'resume'],
  },
  delay: {
    description:
      'How long the delivery waits: whole numbers with the units `s`, `m`, `h` and `d`; at most the account’s `max_delay`.',
    schema: { type: 'string', pattern: /* @__PURE__ */ durationForm('smhd') },
    example: '1m30s',
    scopes: ['message', 'callback', 'retry', 'trigger', 'resume'],
  },
  'not-before': {
    description: 'Unix time in seconds before which it is not delivered. It wins over the delay.',
    schema: { type: 'integer', format: 'int64', minimum: 0 },
    example: '1767225600',
    scopes: ['message', 'retry', 'trigger'],
  },
  'forward-*': {
    description:
      'A header for the destination, named by what stands in the place of `*`: `Svc-Forward-X-Tenant: acme` arrives as `X-Tenant: acme`.',
    schema: { type: 'string', pattern: headerTextForm },
    example: 'acme',
    scopes: ['message', 'callback', 'trigger'],
  },
  'header-forward': {
    description:
      'Passes on all headers of the request, save those of the connection, of gateways, and of the service. Default: `false`.',
    schema: { type: 'boolean' },
    example: 'true',
    scopes: ['message'],
  },
  callback: {
    description: 'URL that is told the outcome of each attempt.',
    schema: { type: 'string', format: 'uri' },
    example: 'https://example.com/done',
    scopes: ['message', 'retry'],
  },
  'failure-callback': {
    description: 'URL that is told when the last retry has failed.',
    schema: { type: 'string', format: 'uri' },
    example: 'https://example.com/failed',
    scopes: ['message', 'retry', 'trigger', 'resume'],
  },
  label: {
    description: /* @__PURE__ */ describeLabels(),
    schema: { type: 'string', pattern: labelsForm },
    example: 'nightly,invoices',
    scopes: ['message', 'callback', 'retry', 'trigger', 'resume'],
  },
  'flow-control-key': {
    description:
      'Messages with the same key share the limits of `Svc-Flow-Control-Value`: each delivery that finds no room waits for its turn. The newest message’s values are the key’s, unless they are pinned.',
    schema: { type: 'string', minLength: 1, maxLength: longestFlowControlKey },
    example: 'tenant-7',
    scopes: ['message', 'callback', 'retry', 'trigger', 'resume'],
  },
  'flow-control-value': {
    description:
      '`parallelism=<n>`, the deliveries that may be in flight at once, at most the account’s `max_parallelism`; `rate=<n>`, those that may start in a period; and `period=<seconds, or a duration such as 1m>`, up to a week, by default 1 second. They are separated by commas; at least one of the first two. Needs `Svc-Flow-Control-Key`.',
    schema: { type: 'string', pattern: '^\\s*\\w+\\s*=\\s*\\w+\\s*(,\\s*\\w+\\s*=\\s*\\w+\\s*)*$' },
    example: 'parallelism=3, rate=10, period=1m',
    scopes: ['message', 'callback', 'retry', 'trigger', 'resume'],
  },
  'redact-fields': {
    description:
      'What answers and logs show only as its hash: `body`, `headers`, `header[<name>]`, separated by commas. Deliveries have the original.',
    schema: { type: 'string', minLength: 1 },
    example: 'body,header[authorization]',
    scopes: ['message', 'callback', 'retry', 'trigger'],
  },
  circuit: {
    description:
      '`on`: while the destination’s host is down, its deliveries wait until it answers again, and use up no retry. `off`: they do not. Default: that of the queue, else of the account.',
    schema: { type: 'string', enum: ['on', 'off'] },
    example: 'on',
    scopes: ['message', 'callback', 'retry'],
  },
  'deduplication-id': {
    description:
      'A message with the same id within 10 minutes is answered with 202 and the first one’s id, and is not sent.',
    schema: { type: 'string', pattern: '\\S', minLength: 1, maxLength: longestDeduplicationId },
    example: 'order-4711',
    scopes: ['message'],
  },
  'content-based-deduplication': {
    description:
      'As `Svc-Deduplication-Id`, by destination, body, content type and forwarded headers. Default: `false`.',
    schema: { type: 'boolean' },
    example: 'true',
    scopes: ['message'],
  },
  cron: {
    description:
      'When to publish: five fields (minute, hour, day of month, month, day of week), with a time zone as in `CRON_TZ=Europe/Berlin 0 9 * * MON-FRI`, by default UTC.',
    schema: { type: 'string', minLength: 1 },
    example: '*/15 * * * *',
    scopes: ['schedule'],
  },
  'schedule-id': {
    description: 'The schedule’s id; one that is there already is overwritten. By default a random one.',
    schema: { type: 'string', pattern: nameForm },
    example: 'nightly-report',
    scopes: ['schedule'],
  },
  'queue-name': {
    description: 'The queue that the messages go through.',
    schema: { type: 'string', pattern: nameForm },
    example: 'mail',
    scopes: ['schedule'],
  },
  'workflow-runid': {
    description:
      'The run’s id, up to 256 visible characters, but not `count`. Where a run with this id is active, no other is started. By default a random one.',
    schema: { type: 'string', pattern: '^[^\\x00-\\x20\\x7f/?#%\\\\]{1,256}$' },
    example: 'wfr_order-4711',
    scopes: ['trigger'],
  },
} as const satisfies Record<string, ConfigurationEntry>;

/** The settings that a parser can ask for by name. */
export type ConfigurationName = Exclude<keyof typeof configuration, `${string}*`>;
