/** Messages, attempts and dead letters as the API shows them. Whatever is redacted is redacted here. */
import type * as answers from './answers.ts';
import type { Answer } from './answers.ts';
import { secondMs } from './clock.ts';
import type { Method } from './configuration.ts';
import type { Header } from './dialect.ts';
import type { Filterable, LogState } from './filters.ts';
import type { Attempt, DeliverySettings, KeptResponse, Message, Origin } from './message.ts';
import { noRedaction, redacted, redactHeaders, type Redaction } from './redaction.ts';

/** Header values by name. */
export type HeaderLists = Readonly<Record<string, readonly string[]>>;

export function listed(headers: readonly Header[]): HeaderLists {
  const lists: Record<string, string[]> = {};
  for (const [name, value] of headers) (lists[name] ??= []).push(value);
  return lists;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes as text where they are text, and as base64 where they are not, under the name that says which. */
function shownBytes<Name extends string>(
  name: Name,
  bytes: Uint8Array,
): { readonly [K in Name | `${Name}Base64`]?: string } {
  const shown: { [K in Name | `${Name}Base64`]?: string } = {};
  try {
    shown[name] = utf8.decode(bytes);
  } catch {
    shown[`${name}Base64`] = Buffer.from(bytes).toString('base64');
  }
  return shown;
}

/** How deliveries are made, as messages, schedules and dead letters show it. */
export function settingsRecord(message: DeliverySettings & Origin): Answer<typeof answers.delivery> {
  const redaction = message.redaction ?? noRedaction;
  const { flowControl } = message;
  return {
    url: message.url,
    topicName: message.topicName,
    endpointName: message.endpointName,
    method: message.method,
    header: listed(redactHeaders(message.headers, redaction)),
    maxRetries: message.maxRetries,
    retryDelayExpression: message.retryDelay,
    timeout: message.timeoutMs / secondMs,
    queueName: message.queueName,
    scheduleId: message.scheduleId,
    label: message.labels[0],
    labels: message.labels.length === 0 ? undefined : message.labels,
    flowControlKey: flowControl?.key,
    parallelism: flowControl?.parallelism,
    rate: flowControl?.rate,
    ratePerSecond: flowControl?.rate,
    period: flowControl?.period,
  };
}

/** A body, or what may be shown of it. */
export const bodyRecord = (body: Uint8Array, redaction: Redaction = noRedaction) =>
  redaction.body ? { body: redacted(body) } : shownBytes('body', body);

/** A message without its body. */
export function messageRecord(message: Message): Answer<typeof answers.messageWithoutBody> {
  return {
    messageId: message.messageId,
    ...settingsRecord(message),
    notBefore: message.notBefore,
    createdAt: message.createdAt,
    callback: message.callback?.url,
    failureCallback: message.failureCallback?.url,
    callerIP: message.callerIp,
    callerIp: message.callerIp,
  };
}

/** A failed attempt's answer, as the dead letter queue shows it. */
export const responseRecord = (response: KeptResponse) => ({
  responseStatus: response.status,
  error: response.error,
  responseHeader: response.headers,
  ...shownBytes('responseBody', response.body),
});

/** What an attempt, or a message's end, tells the log about its message. */
export interface LogSubject extends Origin {
  readonly messageId: string;
  readonly url: string;
  readonly method: Method;
  readonly labels: readonly string[];
  readonly callerIp: string;
  readonly flowControlKey?: string | undefined;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

export const logSubjectOf = (message: Message): LogSubject => ({
  messageId: message.messageId,
  url: message.url,
  method: message.method,
  topicName: message.topicName,
  endpointName: message.endpointName,
  queueName: message.queueName,
  scheduleId: message.scheduleId,
  labels: message.labels,
  callerIp: message.callerIp,
  flowControlKey: message.flowControl?.key,
  createdAt: message.createdAt,
});

export type LogEntry = Answer<typeof answers.logEntry>;

function entry(subject: LogSubject, state: LogState, time: number, more: Partial<LogEntry> = {}): LogEntry {
  const { labels, callerIp, ...rest } = subject;
  return {
    time,
    state,
    ...rest,
    label: labels[0],
    labels: labels.length === 0 ? undefined : labels,
    callerIP: callerIp,
    callerIp,
    ...more,
  };
}

/** @param time where the message stands in the log: when its id was made, in Unix milliseconds */
export const createdEntry = (message: Message, time: number): LogEntry =>
  entry(logSubjectOf(message), 'CREATED', time, { notBefore: message.notBefore });

/** A withdrawn message's entries, newest first. */
export const cancelledEntries = (subject: LogSubject, at: number): readonly LogEntry[] => [
  entry(subject, 'CANCELLED', at),
  entry(subject, 'CANCEL_REQUESTED', at),
];

/**
 * The log entries that an attempt's record stands for, newest first: one row carries that the attempt was made and what
 * became of it.
 */
export function attemptEntries(subject: LogSubject, attempt: Attempt): readonly LogEntry[] {
  const { response, recordedAt, nextDeliveryAt, number } = attempt;
  const retried = { retried: number };
  const active = entry(subject, 'ACTIVE', attempt.startedAt, retried);
  if (attempt.state === 'DELIVERED') {
    return [entry(subject, 'DELIVERED', recordedAt, { ...retried, responseStatus: response.status }), active];
  }
  const failure = {
    ...retried,
    responseStatus: response.status,
    responseHeaders: response.headers,
    responseBody: Buffer.from(response.body).toString('base64'),
    error: response.error,
    nextDeliveryTime: nextDeliveryAt,
  };
  const failed = [entry(subject, 'ERROR', recordedAt, failure), active];
  // The cancellation has entries of its own.
  if (attempt.state === 'CANCELLED') return failed;
  return [
    entry(subject, attempt.state, recordedAt, { ...retried, nextDeliveryTime: nextDeliveryAt }),
    ...failed,
  ];
}

/** What a filter sees of a message. */
export const filterable = (message: Message): Filterable => ({
  ...logSubjectOf(message),
});
