import { retryDelayMs } from './rules/retryDelay.ts';
import { valuesOf, headerName } from '../shared/headers.ts';
import { limitsOf, type Account } from '../account/account.ts';
import { kindOf, type OpenedDelivery } from '../message/kinds.ts';
import { isListed } from '../value/statusList.ts';
import type { AttemptState, DeliverySettings, Message } from '../message/message.ts';
import type { DestinationResponse } from '../destination/response.ts';

export interface Outcome {
  readonly state: Exclude<AttemptState, 'CANCELED'>;
  /** When the next attempt is due; only with RETRY. */
  readonly nextDeliveryAt?: number;
}

const isNonRetryable = (response: DestinationResponse, prefix: string): boolean =>
  response.status === 489 &&
  valuesOf(response.headers, headerName(prefix, 'nonretryable-error').toLowerCase())[0]?.toLowerCase() ===
    'true';

type Judged = Pick<DeliverySettings, 'maxRetries' | 'retryDelay' | 'failOn'> &
  Pick<Message, 'prefix' | 'gone' | 'topicName' | 'workflow'>;

/** Whether an answer means that an endpoint is to be removed from its URL group. */
export const isGone = ({ gone, topicName }: Pick<Message, 'gone' | 'topicName'>, status: number): boolean =>
  status === 410 && gone === 'remove' && topicName !== undefined;

/** Whether an answer fails a message at once. A run's client asks for that with a header. */
function failsAtOnce(message: Judged, { failOn }: Pick<Account, 'failOn'>, response: DestinationResponse) {
  const isFinal = response.isFinal === true || isNonRetryable(response, message.prefix);
  if (isFinal || isGone(message, response.status)) return true;
  const list = message.workflow === undefined ? (message.failOn ?? failOn) : undefined;
  return list !== undefined && isListed(list, response.status);
}

/**
 * Decides the outcome of an attempt. Only 2XX is success. These answers fail the message at once: a 489 with
 * the header `…-NonRetryable-Error`; an answer that a retry would not change; and a status in the message's
 * or the account's `fail-on`. Other failures are retried.
 *
 * @param attempt 0 for the first delivery
 */
export async function outcomeOf(
  message: Judged,
  account: Pick<Account, 'failOn'>,
  attempt: number,
  response: DestinationResponse,
  now: number,
): Promise<Outcome> {
  if (response.status >= 200 && response.status < 300) return { state: 'DELIVERED' };
  if (attempt >= message.maxRetries || failsAtOnce(message, account, response)) return { state: 'FAILED' };
  const delayMs = await retryDelayMs(attempt, message.retryDelay, response, now);
  return { state: 'RETRY', nextDeliveryAt: now + delayMs };
}

interface Decided {
  /** The answer, with the error that the workflow finds in it, if any. */
  readonly response: DestinationResponse;
  readonly outcome: Outcome;
}

/** @param attempt 0 for the first delivery */
export async function decide(
  { message, errorOf }: OpenedDelivery,
  account: Account,
  attempt: number,
  answer: DestinationResponse,
  now: number,
): Promise<Decided> {
  const error = errorOf(answer, limitsOf(account).max_message_size);
  if (error !== undefined) return { response: { ...answer, error }, outcome: { state: 'FAILED' } };
  return { response: answer, outcome: await outcomeOf(message, account, attempt, answer, now) };
}

/**
 * The account's callback for a message's failure. The workflow reports a failed run as a whole. A failed
 * callback or alarm is not reported, because that would be a loop.
 */
export const accountCallbackOf = (
  { failureCallback, workflow, callbackOf, isAlarm }: Message,
  account: Account,
): string | undefined =>
  failureCallback === undefined && workflow === undefined && callbackOf === undefined && isAlarm !== true
    ? account.failureCallback
    : undefined;

/**
 * The account's callback after an attempt: if the message has failed, or if a failed run's endpoint has no
 * failure function.
 */
export async function accountCallbackAfter(
  message: Message,
  account: Account,
  state: AttemptState,
  response: DestinationResponse,
): Promise<string | undefined> {
  const { failureCallback } = account;
  if (state === 'FAILED') return accountCallbackOf(message, account);
  if (state !== 'DELIVERED' || failureCallback === undefined || message.url === failureCallback) {
    return undefined;
  }
  const own = await kindOf(message);
  return own?.kind.isUntold(message, own.part, response) === true ? failureCallback : undefined;
}
