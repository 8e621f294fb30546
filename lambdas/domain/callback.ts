import type { Message } from './message.ts';
import type { DestinationResponse } from './outcome.ts';

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

/** Bytes of which the base64 has at most `length` characters. */
const fitting = (length: number): number => Math.max(0, Math.floor(length / 4) * 3);

/**
 * The JSON body of a callback, as section 6.3 of the service's contract has it. When it would be larger than
 * `maxBytes`, the response's body is cut; should that not be enough, the message's own body too.
 */
export function callbackBody(facts: CallbackFacts, maxBytes: number): Uint8Array {
  const { message, response } = facts;
  const whole = {
    status: response.status,
    error: response.error,
    header: response.headers,
    body: '',
    retried: facts.retried,
    maxRetries: message.maxRetries,
    dlqId: facts.dlqId,
    sourceMessageId: message.messageId,
    topicName: message.topicName,
    endpointName: message.endpointName,
    url: message.url,
    method: message.method,
    sourceHeader: Object.fromEntries(message.headers),
    sourceBody: '',
    notBefore: String(message.notBefore),
    createdAt: String(message.createdAt),
    scheduleId: message.scheduleId,
    callerIP: message.callerIp,
  };
  const room = maxBytes - Buffer.byteLength(JSON.stringify(whole));
  const sourceBody = base64(facts.body.subarray(0, fitting(room)));
  const body = base64(response.body.subarray(0, fitting(room - sourceBody.length)));
  return Buffer.from(JSON.stringify({ ...whole, body, sourceBody }));
}
