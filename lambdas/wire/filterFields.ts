/** The filters of lists, a record for each. */
import { badField, quote } from '../error/httpError.ts';
import { hostOf, pathOf } from '../destination/place.ts';
import type { ValueSchema } from '../options/option.ts';
import { shownUrl } from '../shared/urlCredentials.ts';
import { found, inAnyCase, latestDateMs, wholeOf } from './queryReader.ts';
import {
  failureFunctionStates,
  logStates,
  messageKinds,
  messageStates,
  type FailureFunctionState,
  type LogState,
  type MessageKind,
  type MessageState,
} from './states.ts';

/** An entry of a list. */
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
  /** Returns the reason of a failure, without its numbers and ids. */
  readonly errorOf?: (() => string) | undefined;
  readonly state?: string | undefined;
  readonly kind?: MessageKind | undefined;
  readonly run?:
    | {
        readonly url: string;
        readonly runId?: string;
        readonly createdAt?: number;
        readonly failureState?: FailureFunctionState | undefined;
      }
    | undefined;
}

export interface FilterField {
  /** For the API's description, in Markdown. */
  readonly description: string;
  readonly schema: ValueSchema;
  readonly example: string | number;
  /** The values of an entry. It matches if one of them is wanted. */
  readonly valuesOf: (entry: Filterable) => readonly (string | undefined)[];
  /**
   * Reads a given text, such as a state, as one or several values. By default the text is the value.
   *
   * @throws HttpError 400
   */
  readonly read?: (text: string) => string | readonly string[];
  /** The attribute with these values in the rows of messages and of the log. */
  readonly attribute?: string;
}

/** One or several comma-separated values. */
export const valuesSchema: ValueSchema = {
  type: 'string',
  pattern: '^[^,]*[^,\\s][^,]*(,[^,]*[^,\\s][^,]*)*$',
};

/** A value that may contain commas. */
export const textSchema: ValueSchema = { type: 'string', minLength: 1 };

export const dateSchema: ValueSchema = {
  type: 'integer',
  format: 'int64',
  minimum: 0,
  maximum: latestDateMs,
};

/** The highest HTTP status; 0 means no answer. */
const highestStatus = 999;

const numberText = (value: number | undefined): string | undefined =>
  value === undefined ? undefined : String(value);

const eachState = <State extends string>(
  states: readonly State[],
): Readonly<Record<string, readonly State[]>> => Object.fromEntries(states.map((state) => [state, [state]]));

/** The states of log entries that each value of the log's filter `state` includes. */
const logStateFilters: Readonly<Record<string, readonly LogState[]>> = {
  ...eachState(logStates),
  IN_PROGRESS: ['HELD', 'ACTIVE', 'RETRY', 'ERROR'],
  CANCELLED: ['CANCELED'],
};

const messageStateFilters: Readonly<Record<string, readonly MessageState[]>> = {
  ...eachState(messageStates),
  CANCELLED: ['CANCELED'],
  ALL: messageStates,
};

const stateField = (
  states: Readonly<Record<string, readonly string[]>>,
  about: Pick<FilterField, 'description' | 'example'>,
): FilterField => ({
  ...about,
  schema: { type: 'string', enum: Object.keys(states) },
  valuesOf: ({ state }) => [state],
  read: (text) => {
    const name = text.toUpperCase();
    const wanted = Object.hasOwn(states, name) ? states[name] : undefined;
    if (wanted !== undefined) return wanted;
    throw badField(`state is ${quote(text)}; allowed are ${Object.keys(states).join(', ')}.`);
  },
});

export const fields = {
  url: {
    description: 'The destination, exactly.',
    schema: textSchema,
    example: 'https://example.com/orders',
    valuesOf: ({ url }) => [shownUrl(url)],
    read: shownUrl,
  },
  host: {
    description: 'The host of its URL, with the port if the URL has one.',
    schema: valuesSchema,
    example: 'example.com',
    valuesOf: ({ url }) => [hostOf(url)],
  },
  path: {
    description: 'The path of its URL.',
    schema: textSchema,
    example: '/orders',
    valuesOf: ({ url }) => [pathOf(url)],
  },
  messageId: {
    description: 'The message’s id.',
    schema: valuesSchema,
    example: 'msg_01KDVDNA00M3A9X2C4D6F8GHJK',
    valuesOf: ({ messageId }) => [messageId],
  },
  topicName: {
    description: 'The URL group that it was published to.',
    schema: valuesSchema,
    example: 'orders',
    valuesOf: ({ topicName }) => [topicName],
    attribute: 'topicName',
  },
  queueName: {
    description: 'Its queue.',
    schema: valuesSchema,
    example: 'mail',
    valuesOf: ({ queueName }) => [queueName],
    attribute: 'queueName',
  },
  scheduleId: {
    description: 'Its schedule.',
    schema: valuesSchema,
    example: 'nightly-report',
    valuesOf: ({ scheduleId }) => [scheduleId],
    attribute: 'scheduleId',
  },
  callerIp: {
    description: 'The IP address that it came from.',
    schema: valuesSchema,
    example: '203.0.113.7',
    valuesOf: ({ callerIp }) => [callerIp],
    attribute: 'callerIp',
  },
  flowControlKey: {
    description: 'Its flow-control key.',
    schema: valuesSchema,
    example: 'tenant-7',
    valuesOf: ({ flowControlKey }) => [flowControlKey],
  },
  label: {
    description: 'One of its labels.',
    schema: valuesSchema,
    example: 'nightly',
    valuesOf: ({ labels = [] }) => labels,
    attribute: 'labels',
  },
  responseStatus: {
    description: 'The status of the last answer; 0 if there was no answer.',
    schema: { type: 'integer', minimum: 0, maximum: highestStatus },
    example: 503,
    valuesOf: ({ responseStatus }) => [numberText(responseStatus)],
    read: (text) => String(wholeOf('responseStatus', text, 0, highestStatus)),
  },
  error: {
    description: 'The reason of the failure, without numbers and ids, exactly as in `errors` of a count.',
    schema: textSchema,
    example: 'Error: order … is not known',
    valuesOf: ({ errorOf }) => [errorOf?.()],
  },
  state: stateField(logStateFilters, {
    description:
      'The entry’s state. `IN_PROGRESS` means `ACTIVE`, `RETRY` and `ERROR`. `CANCELLED` is accepted for `CANCELED`.',
    example: 'DELIVERED',
  }),
  kind: {
    description:
      'Its origin: `published` for a publish, a schedule or a retry; `callback`; `run` for the messages of workflow runs.',
    schema: { type: 'string', enum: messageKinds },
    example: 'published',
    valuesOf: ({ kind }) => [kind],
    read: (text) => found('kind', text, messageKinds),
  },
  workflowUrl: {
    description: 'The URL that the run was started with, exactly.',
    schema: textSchema,
    example: 'https://example.com/workflows/orders',
    valuesOf: ({ run }) => [run && shownUrl(run.url)],
    read: shownUrl,
  },
  workflowRunId: {
    description: 'The run’s id.',
    schema: valuesSchema,
    example: 'wfr_01KDVDNA5ZQ1T6B9F3H7J0M2NP',
    valuesOf: ({ run }) => [run?.runId],
  },
  workflowCreatedAt: {
    description: 'When the run was started, in Unix milliseconds: it distinguishes runs with the same id.',
    schema: dateSchema,
    example: 1_767_225_600_000,
    valuesOf: ({ run }) => [numberText(run?.createdAt)],
    read: (text) => String(wholeOf('workflowCreatedAt', text, 0, latestDateMs)),
  },
  failureFunctionState: {
    description:
      'The state of the run’s failure function: in progress, successful, failed, or cancelled by hand.',
    schema: { type: 'string', enum: failureFunctionStates },
    example: 'CALLBACK_FAIL',
    valuesOf: ({ run }) => [run?.failureState],
    read: (text) => found('failureFunctionState', text, failureFunctionStates, inAnyCase),
  },
} as const satisfies Readonly<Record<string, FilterField>>;

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

/** The filters of each list. */
export const known = {
  /** The messages that a bulk cancellation selects. */
  messages: common,
  listedMessages: [...common, 'messageId', 'state', 'kind', 'responseStatus', 'error'],
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
    // Sent by older clients.
    'url',
    'responseStatus',
  ],
  logs: [...common, 'messageId', 'state'],
  runs: ['workflowUrl', 'host', 'path', 'label', 'flowControlKey', 'callerIp'],
} as const satisfies Readonly<Record<string, readonly Field[]>>;

/** The filters that differ in one list. */
const own: Readonly<Partial<Record<keyof typeof known, Readonly<Partial<Record<Field, FilterField>>>>>> = {
  listedMessages: {
    state: stateField(messageStateFilters, {
      description:
        'The message’s state. Default: the waiting messages, `CREATED`, `ACTIVE` and `RETRY`. `ALL` means all states. `CANCELLED` is accepted for `CANCELED`.',
      example: 'ALL',
    }),
  },
};

export const fieldOf = (list: keyof typeof known, name: Field): FilterField =>
  own[list]?.[name] ?? fields[name];
