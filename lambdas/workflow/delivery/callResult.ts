/** The answer of a third party, as the endpoint is told of it. */
import { bytesWithResponse, callbackBody } from '../../delivery/callbackBody.ts';
import type { CallbackDetails } from '../../message/kinds.ts';
import type { DestinationResponse } from '../../destination/response.ts';
import { jsonTextBytes } from '../../shared/jsonSize.ts';

const isSuccess = ({ status }: DestinationResponse): boolean => status >= 200 && status < 300;

/** Where there was no answer, or none that a result can hold, the reason is the body: the client knows no other place for it. */
const told = (response: DestinationResponse): DestinationResponse =>
  response.error === undefined
    ? response
    : { status: 0, error: response.error, headers: [], body: Buffer.from(response.error) };

/** The facts as they are told, with the retries that the client has to see. */
function toldFacts(facts: CallbackDetails): CallbackDetails {
  const { message, retried } = facts;
  const response = told(facts.response);
  const maxRetries = isSuccess(response) ? message.maxRetries : retried;
  return { ...facts, message: { ...message, maxRetries }, response };
}

/**
 * Makes the body that brings the last answer to a call, whatever it was. The client takes a failure before the last retry for
 * one that is not the end, and waits for another; so a call that stopped early names the retries that it made as its most.
 *
 * @param facts whose answer is not {@link tooLarge}
 * @param maxBytes the call's own body, which the client does not read, is cut where all would be larger
 */
export const callResultBody = (facts: CallbackDetails, maxBytes: number): Uint8Array =>
  callbackBody(toldFacts(facts), maxBytes, 'body');

/** Bytes of the rest of that step: names, numbers, and quotes. Its name and the answer's headers are counted beside them. */
const bytesAround = 512;

/**
 * Counts the bytes of the step that the client makes of an answer: it reads the answer as Latin-1, writes it into JSON, and that into
 * JSON once more.
 */
function stepBytes({ headers, body }: DestinationResponse): number {
  const around = bytesAround + 4 * Buffer.byteLength(JSON.stringify(headers));
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  return around + jsonTextBytes(text, 2) - jsonTextBytes('', 2);
}

/**
 * Finds out that an answer does not fit into the result of its step. A part of it would be taken for the whole, so there is none,
 * and the call has failed.
 *
 * @param maxBytes the largest message
 * @returns the call's error; undefined where the answer fits
 */
export function tooLarge(facts: CallbackDetails, maxBytes: number): string | undefined {
  const { body, isCut } = facts.response;
  const bytes = Math.max(bytesWithResponse(facts), stepBytes(facts.response));
  if (isCut === undefined && bytes <= maxBytes) return undefined;
  const size = isCut === undefined ? `${body.length} bytes` : `${body.length} bytes or more`;
  return `The answer has ${size}, and the result of its step would have ${bytes} with it; allowed are ${maxBytes} (max_message_size).`;
}
