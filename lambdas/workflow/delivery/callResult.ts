import { callbackBody, shownAsBytes } from '../../delivery/callbackBody.ts';
import type { CallbackDetails } from '../../message/kinds.ts';
import type { DestinationResponse } from '../../destination/response.ts';

const isSuccess = ({ status }: DestinationResponse): boolean => status >= 200 && status < 300;

/** Puts the reason for a missing or unusable answer into the body, because the client reads only the body. */
const told = (response: DestinationResponse): DestinationResponse =>
  response.error === undefined
    ? response
    : { status: 0, error: response.error, headers: [], body: Buffer.from(response.error) };

/** Sets the number of retries that the client reads. */
function toldDetails(details: CallbackDetails): CallbackDetails {
  const { message, retried } = details;
  const response = told(details.response);
  const maxRetries = isSuccess(response) ? message.maxRetries : retried;
  const headers = shownAsBytes(response.headers);
  return { ...details, message: { ...message, maxRetries }, response: { ...response, headers } };
}

/**
 * Makes the body that reports the last answer to a call, even an error. If the number of retries were below
 * the maximum, the client would wait for another answer. So a call that stopped early reports the maximum.
 *
 * @param details with an answer that is not {@link tooLargeForStep}
 * @param maxBytes the largest result; to fit, the call's own body is shortened, which the client does not
 * read
 */
export const callResultBody = (details: CallbackDetails, maxBytes: number): Uint8Array =>
  callbackBody(toldDetails(details), maxBytes, 'body');
