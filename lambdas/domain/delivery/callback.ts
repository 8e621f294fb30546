import { joinedHeaders, shownHeaders } from '../headers.ts';
import type { Message } from '../message/message.ts';
import type { DestinationResponse } from './outcome.ts';
import { shownUrl } from './urlCredentials.ts';

export interface CallbackFacts {
  readonly message: Message;
  readonly body: Uint8Array;
  readonly response: DestinationResponse;
  /** Retries made so far: 0 after the first delivery. */
  readonly retried: number;
  /** Set in failure callbacks. */
  readonly dlqId?: string | undefined;
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** The most bytes whose base64 has at most `length` characters. */
const fitting = (length: number): number => Math.max(0, Math.floor(length / 4) * 3);

/** All that a callback tells, with both bodies empty. */
const emptyCallback = ({ message, response, retried, dlqId }: CallbackFacts) => ({
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
  notBefore: String(message.notBefore),
  createdAt: String(message.createdAt),
  scheduleId: message.scheduleId,
  callerIP: message.callerIp,
});

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/**
 * The JSON body of a callback, as `docs/receiving.md` describes it. When it would be larger than `maxBytes`, the response's body is cut;
 * should that not be enough, the message's own body too.
 */
export function callbackBody(facts: CallbackFacts, maxBytes: number): Uint8Array {
  const whole = emptyCallback(facts);
  const room = maxBytes - jsonBytes(whole);
  const sourceBody = base64(facts.body.subarray(0, fitting(room)));
  const body = base64(facts.response.body.subarray(0, fitting(room - sourceBody.length)));
  return Buffer.from(JSON.stringify({ ...whole, body, sourceBody }));
}

/**
 * The JSON body of a callback that tells of the failure of something larger, such as a workflow's run: with fields of its own,
 * and with the whole of the message's body, or without the field where that is empty.
 */
export function failedCallbackBody(
  facts: CallbackFacts,
  more: Readonly<Record<string, string | number>>,
  maxBytes: number,
): Uint8Array {
  const sourceBody = facts.body.length === 0 ? undefined : base64(facts.body);
  const whole = { ...emptyCallback(facts), ...more, sourceBody };
  const body = base64(facts.response.body.subarray(0, fitting(maxBytes - jsonBytes(whole))));
  return Buffer.from(JSON.stringify({ ...whole, body }));
}
