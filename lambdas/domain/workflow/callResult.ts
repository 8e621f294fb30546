/** The answer of a third party, as the endpoint is told of it. */
import { callbackBody, type CallbackFacts } from '../delivery/callback.ts';
import type { DestinationResponse } from '../delivery/outcome.ts';

const isSuccess = ({ status }: DestinationResponse): boolean => status >= 200 && status < 300;

/** Where there was no answer, its reason is the body: the client knows no other place for it. */
const told = (response: DestinationResponse): DestinationResponse =>
  response.status === 0 ? { ...response, headers: [], body: Buffer.from(response.error ?? '') } : response;

/**
 * Makes the body that brings the last answer to a call, whatever it was. The client takes a failure before the last retry for
 * one that is not the end, and waits for another; so a call that stopped early names the retries that it made as its most.
 *
 * @param maxBytes the answer is cut where all would be larger
 */
export function callResultBody(facts: CallbackFacts, maxBytes: number): Uint8Array {
  const { message, response, retried } = facts;
  const maxRetries = isSuccess(response) ? message.maxRetries : retried;
  return callbackBody({ ...facts, message: { ...message, maxRetries }, response: told(response) }, maxBytes);
}
