/** The answer of a third party to a call, as the service tells it to the endpoint. */
import { callbackBody } from '../../delivery/callbackBody.ts';
import type { CallbackDetails } from '../../message/kinds.ts';
import type { DestinationResponse } from '../../destination/response.ts';

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
 * @param details whose answer is not {@link tooLargeForStep}
 * @param maxBytes the call's own body, which the client does not read, is cut where all would be larger
 */
export const callResultBody = (details: CallbackDetails, maxBytes: number): Uint8Array =>
  callbackBody(toldDetails(details), maxBytes, 'body');
