import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import type { LogState, MessageKind } from '../wire/states.ts';
import type { Filterable } from '../wire/filterFields.ts';
import { matches, mayMatch, type Filter } from '../wire/filters.ts';
import { shownHeaders, type HeaderLists } from '../shared/headers.ts';
import { logSubjectOf } from './logSubject.ts';
import type { LogSubject } from './message.ts';
import type { Attempt, CallbackSettings, Message, OpenAttempt } from './message.ts';
import { noRedaction, redactHeaders } from './redaction.ts';
import type { LoggedMessage } from './list.ts';
import { settingsRecord } from './records.ts';

export type LogEntry = Answer<typeof answers.logEntry>;

function entry(subject: LogSubject, state: LogState, time: number, more: Partial<LogEntry> = {}): LogEntry {
  // The label already shows it.
  const { labels, callerIp, isAlarm: _, ...rest } = subject;
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

/** @param time when the message's id was made: the entry's place in the log */
export const createdEntry = (message: Message, time: number): LogEntry =>
  entry(logSubjectOf(message), 'CREATED', time, { notBefore: message.notBefore, ...settingsRecord(message) });

export const heldEntry = (subject: LogSubject, attempt: number, at: number): LogEntry =>
  entry(subject, 'HELD', at, { retried: attempt });

export const openEntry = (subject: LogSubject, { number, startedAt }: OpenAttempt): LogEntry =>
  entry(subject, 'ACTIVE', startedAt, { retried: number });

export const cancelledEntries = (subject: LogSubject, at: number): readonly LogEntry[] => [
  entry(subject, 'CANCELED', at),
  entry(subject, 'CANCEL_REQUESTED', at),
];

export function attemptEntries(subject: LogSubject, attempt: Attempt): readonly LogEntry[] {
  const { response, recordedAt, nextDeliveryAt, number } = attempt;
  const { completedBy, comment } = attempt;
  const retried = { retried: number };
  const answer = {
    ...retried,
    responseStatus: response.status,
    responseHeaders: response.headers.length === 0 ? undefined : shownHeaders(response.headers),
    responseBody: response.body.length === 0 ? undefined : Buffer.from(response.body).toString('base64'),
    completedBy,
    comment,
  };
  // If the attempt was open, this entry was written when it was left open.
  const active = attempt.wasOpen === true ? [] : [entry(subject, 'ACTIVE', attempt.startedAt, retried)];
  if (attempt.state === 'DELIVERED') {
    return [entry(subject, 'DELIVERED', recordedAt, answer), ...active];
  }
  const failure = {
    ...answer,
    responseHeaders: shownHeaders(response.headers),
    error: response.error,
    nextDeliveryTime: nextDeliveryAt,
  };
  const failed = [entry(subject, 'ERROR', recordedAt, failure), ...active];
  if (attempt.state === 'CANCELED') return failed;
  return [
    entry(subject, attempt.state, recordedAt, { ...retried, nextDeliveryTime: nextDeliveryAt }),
    ...failed,
  ];
}

type Event = Answer<typeof answers.event>;

/** Shows a callback's headers, with its message's redaction, too. */
function callbackHeaders(
  callback: CallbackSettings | undefined,
  { redaction = noRedaction }: Message,
): HeaderLists | undefined {
  if (callback === undefined) return undefined;
  const own = callback.redaction?.headers ?? [];
  const headers =
    own === 'all' || redaction.headers === 'all' ? ('all' as const) : [...own, ...redaction.headers];
  return shownHeaders(redactHeaders(callback.headers, { body: false, headers }));
}

/** @param message the entry's message, if its row still exists */
export const eventOf = (logged: LogEntry, message: Message | undefined): Event => ({
  ...logged,
  retryDelayExpr: logged.retryDelayExpression,
  responseHeader: logged.responseHeaders,
  callbackHeaders: message && callbackHeaders(message.callback, message),
  failureCallbackHeaders: message && callbackHeaders(message.failureCallback, message),
});

const kindOf = ({ workflow, callbackOf }: Message): MessageKind => {
  if (workflow !== undefined) return 'run';
  return callbackOf === undefined ? 'published' : 'callback';
};

export const filterable = (message: Message): Filterable => ({
  ...logSubjectOf(message),
  kind: kindOf(message),
});

/** Checks attributes that can be read without parsing first, because most messages do not match. */
export const matchesFilter = (filter: Filter, listed: Pick<LoggedMessage, 'message' | 'textsOf'>): boolean =>
  filter.values.size === 0 ||
  (mayMatch(filter, (name) => listed.textsOf?.(name)) && matches(filter, filterable(listed.message)));
