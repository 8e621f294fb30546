/** Reports a third party's answer to a call to the endpoint. */
import { callbackBody } from '../../delivery/callbackBody.ts';
import type { CallbackDetails } from '../../message/kinds.ts';
import type { DestinationResponse } from '../../destination/response.ts';

const isSuccess = ({ status }: DestinationResponse): boolean => status >= 200 && status < 300;

/** Puts the reason into the body if there was no answer, or one that a result cannot hold. The client reads only the body. */
const told = (response: DestinationResponse): DestinationResponse =>
  response.error === undefined
    ? response
    : { status: 0, error: response.error, headers: [], body: Buffer.from(response.error) };

/** Sets the retries as the client must see them. */
function toldDetails(details: CallbackDetails): CallbackDetails {
  const { message, retried } = details;
  const response = told(details.response);
  const maxRetries = isSuccess(response) ? message.maxRetries : retried;
  return { ...details, message: { ...message, maxRetries }, response };
}

/**
 * Makes the body with the last answer to a call, whether or not it is an error. The client takes a failure before the last retry
 * for a temporary one and waits for another answer, so a call that stopped early reports its retries as the maximum.
 *
 * @param details with an answer that is not {@link tooLargeForStep}
 * @param maxBytes if the result would be larger, the call's own body is shortened, which the client does not read
 */
export const callResultBody = (details: CallbackDetails, maxBytes: number): Uint8Array =>
  callbackBody(toldDetails(details), maxBytes, 'body');
