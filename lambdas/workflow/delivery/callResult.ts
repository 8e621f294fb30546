/** The answer of a third party to a call, as the service tells it to the endpoint. */
import { bytesWithResponse, callbackBody } from '../../delivery/callbackBody.ts';
import type { CallbackDetails } from '../../message/kinds.ts';
import type { DestinationResponse } from '../../destination/response.ts';
import { jsonTextBytes } from '../../shared/jsonSize.ts';

const isSuccess = ({ status }: DestinationResponse): boolean => status >= 200 && status < 300;

/** Puts the reason into the body where there was no answer, or none that a result can hold: the client reads no other field. */
const told = (response: DestinationResponse): DestinationResponse =>
  response.error === undefined
    ? response
    : { status: 0, error: response.error, headers: [], body: Buffer.from(response.error) };

/** Makes the details of the callback, with the retries that the client has to see. */
function toldDetails(details: CallbackDetails): CallbackDetails {
  const { message, retried } = details;
  const response = told(details.response);
  const maxRetries = isSuccess(response) ? message.maxRetries : retried;
  return { ...details, message: { ...message, maxRetries }, response };
}

/**
 * Makes the body that brings the last answer to a call, of any status. The client takes a failure before the last retry for a
 * temporary one, and waits for another answer; so a call that stopped early names the retries that it made as its most.
 *
 * @param details whose answer is not {@link tooLarge}
 * @param maxBytes the call's own body, which the client does not read, is cut where all would be larger
 */
export const callResultBody = (details: CallbackDetails, maxBytes: number): Uint8Array =>
  callbackBody(toldDetails(details), maxBytes, 'body');

/** Bytes of a result's names, numbers, and quotes. The step's name and the answer's headers are counted beside them. */
const bytesAround = 512;

/**
 * Counts the bytes of the step that the client makes of an answer: it reads the answer as Latin-1, and writes it into JSON within
 * JSON.
 */
function stepBytes({ headers, body }: DestinationResponse): number {
  const around = bytesAround + 4 * Buffer.byteLength(JSON.stringify(headers));
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  return around + jsonTextBytes(text, 2) - jsonTextBytes('', 2);
}

/**
 * Checks that an answer fits into the result of its step. A part of it would be taken for the whole, so a call whose answer does
 * not fit has failed.
 *
 * @param maxBytes the largest message
 * @returns the call's error; undefined where the answer fits
 */
export function tooLarge(details: CallbackDetails, maxBytes: number): string | undefined {
  const { body, isCut } = details.response;
  const bytes = Math.max(bytesWithResponse(details), stepBytes(details.response));
  if (isCut === undefined && bytes <= maxBytes) return undefined;
  const size = isCut === undefined ? `${body.length} bytes` : `${body.length} bytes or more`;
  return `The answer has ${size}, and the result of its step would have ${bytes} with it; allowed are ${maxBytes} (max_message_size).`;
}
