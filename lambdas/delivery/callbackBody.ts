import { hasNumericTimes } from '../request/dialect.ts';
import { beginningOf } from '../shared/bytes.ts';
import { headerBytes, shownHeaders, type Header } from '../shared/headers.ts';
import type { CallbackDetails } from '../message/kinds.ts';
import { shortened } from './rules/shortenedText.ts';
import { jsonTextBytes } from '../shared/jsonSize.ts';
import type { DestinationResponse } from '../destination/response.ts';
import { shownUrl } from '../shared/urlCredentials.ts';

/**
 * Workflow clients pass these headers to `new Headers`, which accepts only Latin-1. So each byte is shown as
 * a character.
 */
export const shownAsBytes = (headers: readonly Header[]): readonly Header[] =>
  headers.map(([name, value]) => [name, headerBytes(value)]);

/**
 * Converts headers to one text for each name. Commas join values (RFC 9110, 5.3), and semicolons join cookies (RFC 9113,
 * 8.2.3).
 */
export const joinedHeaders = (headers: readonly Header[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(shownHeaders(headers)).map(([name, values]) => [
      name,
      values.join(name === 'Cookie' ? '; ' : ', '),
    ]),
  );

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** How many bytes fit into `length` characters of base64. */
const fitting = (length: number): number => Math.max(0, Math.floor(length / 4) * 3);

/** Writes Unix milliseconds as the dialect does: as text, or as a number. */
const timeIn = (prefix: string, time: number): string | number =>
  hasNumericTimes(prefix) ? time : String(time);

const emptyCallback = ({ message, response, retried, dlqId }: CallbackDetails) => ({
  status: response.status,
  error: response.error,
  header: shownHeaders(response.headers),
  body: '',
  retried,
  maxRetries: message.maxRetries,
  dlqId,
  sourceMessageId: message.messageId,
  topicName: message.topicName,
  endpointName: message.endpointName,
  url: shownUrl(message.url),
  method: message.method,
  sourceHeader: joinedHeaders(message.headers),
  sourceBody: '',
  notBefore: timeIn(message.prefix, message.notBefore),
  createdAt: timeIn(message.prefix, message.createdAt),
  scheduleId: message.scheduleId,
  callerIP: message.callerIp,
});

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** @param length of base64, in characters */
function beginningIn(
  length: number,
  body: Uint8Array,
): { readonly text: string; readonly isCut: true | undefined } {
  const beginning = beginningOf(body, fitting(length));
  return { text: base64(beginning), isCut: beginning.length < body.length || undefined };
}

/**
 * Makes the JSON body of a callback (see `docs/receiving.md`). To fit into `maxBytes`, the bodies in it are
 * truncated, and a field says so.
 *
 * @param first the body that is truncated last
 */
export function callbackBody(
  details: CallbackDetails,
  maxBytes: number,
  first: 'body' | 'sourceBody' = 'sourceBody',
): Uint8Array {
  const whole = emptyCallback(details);
  const capacity = maxBytes - jsonBytes({ ...whole, bodyIsCut: true, sourceBodyIsCut: true });
  const bodies = { body: details.response.body, sourceBody: details.body };
  const kept = beginningIn(capacity, bodies[first]);
  const other = beginningIn(capacity - kept.text.length, bodies[first === 'body' ? 'sourceBody' : 'body']);
  const [body, sourceBody] = first === 'body' ? [kept, other] : [other, kept];
  return Buffer.from(
    JSON.stringify({
      ...whole,
      body: body.text,
      bodyIsCut: details.response.isCut ?? body.isCut,
      sourceBody: sourceBody.text,
      sourceBodyIsCut: sourceBody.isCut,
    }),
  );
}

/** The size of a call's result without the message's own body, in bytes. */
function bytesWithResponse(details: CallbackDetails): number {
  const response = { ...details.response, headers: shownAsBytes(details.response.headers) };
  return (
    jsonBytes({ ...emptyCallback({ ...details, response }), bodyIsCut: true, sourceBodyIsCut: true }) +
    4 * Math.ceil(response.body.length / 3)
  );
}

/**
 * Room for a failed response, at least. The message's own body is never truncated, so it may leave no room.
 */
const leastResponseBytes = 64 * 1_024;

/**
 * Makes the JSON body of a callback that reports the failure of a whole run. It has additional fields and the
 * message's whole body, if any. A long response is shortened so that JSON can still be parsed, and a field
 * says so.
 */
export function failedCallbackBody(
  details: CallbackDetails,
  more: Readonly<Record<string, string | number>>,
  maxBytes: number,
): Uint8Array {
  const { body, isCut } = details.response;
  const sourceBody = details.body.length === 0 ? undefined : base64(details.body);
  const whole = { ...emptyCallback(details), bodyIsCut: true, ...more, sourceBody };
  const capacity = Math.max(fitting(maxBytes - jsonBytes(whole)), leastResponseBytes);
  const told = shortened(body, capacity, isCut);
  const bodyIsCut = told === body ? undefined : true;
  return Buffer.from(JSON.stringify({ ...whole, body: base64(told), bodyIsCut }));
}

/** Bytes of a result besides the step's name, and the answer's headers and body. */
const bytesAround = 512;

/**
 * The size of the step that the client makes of an answer. The client reads the answer as Latin-1, and writes
 * it into JSON within JSON.
 */
function stepBytes({ headers, body }: DestinationResponse): number {
  const around = bytesAround + 4 * Buffer.byteLength(JSON.stringify(headers));
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  return around + jsonTextBytes(text, 2) - jsonTextBytes('', 2);
}

/**
 * Checks that an answer fits into the result of its step. A truncated answer would look complete, so the call
 * fails instead.
 *
 * @param maxBytes the largest message
 * @returns the call's error; undefined if the answer fits
 */
export function tooLargeForStep(details: CallbackDetails, maxBytes: number): string | undefined {
  const { body, isCut } = details.response;
  const bytes = Math.max(bytesWithResponse(details), stepBytes(details.response));
  if (isCut === undefined && bytes <= maxBytes) return undefined;
  const size = isCut === undefined ? `${body.length} bytes` : `${body.length} bytes or more`;
  return `The answer has ${size}, and the result of its step would have ${bytes} with it; allowed are ${maxBytes} (max_message_size).`;
}
