/** Messages, attempts and dead letters as the API shows them. Redaction happens only here. */
import type * as answers from '../wire/answers.ts';
import type { Answer } from '../wire/answers.ts';
import type { ShownAs } from '../wire/answerSize.ts';
import { shownHeaders, type Header } from '../shared/headers.ts';
import type { Method } from '../value/method.ts';
import type { DeliverySettings, KeptResponse, Message } from './message.ts';
import { noRedaction, redacted, redactHeaders } from './redaction.ts';
import type { Redaction } from '../options/redaction.ts';
import { beginningOf } from '../shared/bytes.ts';
import { failureText } from '../value/failureText.ts';
import { statusOf, type AttemptOutline, type StatusHistory } from './status.ts';
import type { Every } from '../options/option.ts';
import { showOptions } from '../options/options.ts';
import { shownUrlOf } from './logSubject.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Shows bytes as text if they are valid UTF-8, or else as base64 in a field whose name ends in `Base64`.
 *
 * @param as `base64` shows text as base64 too
 */
function shownBytes<Name extends string>(
  name: Name,
  bytes: Uint8Array,
  as: ShownAs,
): { readonly [K in Name | `${Name}Base64`]?: string } {
  const shown: { [K in Name | `${Name}Base64`]?: string } = {};
  if (bytes.length === 0) return shown;
  try {
    if (as === 'text') shown[name] = utf8.decode(bytes);
  } catch {
    // The body is not text.
  }
  if (shown[name] === undefined) shown[`${name}Base64`] = Buffer.from(bytes).toString('base64');
  return shown;
}

/** The settings as messages, schedules, dead letters and the log show them. */
export const settingsRecord = (
  message: Omit<DeliverySettings, 'url'> & Pick<Message, 'callback' | 'failureCallback'>,
): Every<Answer<typeof answers.settings>> =>
  showOptions(message, shownHeaders(redactHeaders(message.headers, message.redaction ?? noRedaction)));

/** A body, or its hash if redacted; nothing if empty. */
export const bodyRecord = (body: Uint8Array, redaction: Redaction = noRedaction, as: ShownAs = 'text') =>
  redaction.body && body.length > 0 ? { body: redacted(body) } : shownBytes('body', body, as);

/** A delivery's request, as it is or would be sent. */
export const requestRecord = (
  request: { readonly method: Method; readonly headers: readonly Header[]; readonly body: Uint8Array },
  redaction: Redaction = noRedaction,
) => ({
  method: request.method,
  headers: shownHeaders(redactHeaders(request.headers, redaction)),
  ...bodyRecord(request.body, redaction),
});

export function messageRecord(message: Message): Answer<typeof answers.messageWithoutBody> {
  return {
    messageId: message.messageId,
    url: shownUrlOf(message),
    topicName: message.topicName,
    endpointName: message.endpointName,
    queueName: message.queueName,
    scheduleId: message.scheduleId,
    ...settingsRecord(message),
    notBefore: message.notBefore,
    createdAt: message.createdAt,
    retriedFrom: message.retriedFrom,
    retriedAs: message.retriedAs,
    callbackOf: message.callbackOf,
    callerIP: message.callerIp,
    callerIp: message.callerIp,
  };
}

export const statusRecord = (history: StatusHistory & { readonly message: Message }) => {
  const { state, nextDeliveryAt, endedAt } = statusOf(history);
  return {
    state,
    retried: history.attempts.length,
    responseStatus: history.attempts.at(-1)?.response.status,
    nextDeliveryTime: nextDeliveryAt,
    debounced: state === 'CREATED' && history.message.debounce !== undefined ? (true as const) : undefined,
    completionDeadline: state === 'ACTIVE' ? history.open?.until : undefined,
    endedAt,
    workflowRunId: history.message.workflow?.runId,
  };
};

/** The reason of a failure, without numbers and ids, so that equal reasons can be grouped. */
export const reasonOf = ({ status, error, body }: AttemptOutline['response']): string =>
  failureText(
    { error, responseBody: body && Buffer.from(beginningOf(body, listedResponseBytes)).toString() },
    status,
  );

export const listedRecord = (
  history: Parameters<typeof statusRecord>[0],
): Answer<typeof answers.listedMessage> => ({
  ...messageRecord(history.message),
  ...statusRecord(history),
});

/** The part of an answer that lists show. A kilobyte costs one write unit. */
export const listedResponseBytes = 1_024;

/** The answer to a failed attempt, as dead letters show it. */
export const responseRecord = (response: KeptResponse, as: ShownAs = 'text') => ({
  responseStatus: response.status,
  error: response.error,
  responseHeader: shownHeaders(response.headers),
  ...shownBytes('responseBody', response.body, as),
});
