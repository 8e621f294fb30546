import { retryDelayMs } from './rules/retryDelay.ts';
import { valuesOf, headerName } from '../shared/headers.ts';
import { limitsOf, type Account } from '../account/account.ts';
import { kindOf, type OpenedDelivery } from '../message/kinds.ts';
import { isListed } from '../value/statusList.ts';
import type { AttemptState, DeliverySettings, Message } from '../message/message.ts';
import type { DestinationResponse } from '../destination/response.ts';

/** The outcome of an attempt that was made. */
export interface Outcome {
  readonly state: Exclude<AttemptState, 'CANCELED'>;
  /** Unix milliseconds of the next attempt; with RETRY only. */
  readonly nextDeliveryAt?: number;
}

const isNonRetryable = (response: DestinationResponse, prefix: string): boolean =>
  response.status === 489 &&
  valuesOf(response.headers, headerName(prefix, 'nonretryable-error').toLowerCase())[0]?.toLowerCase() ===
    'true';

type Judged = Pick<DeliverySettings, 'maxRetries' | 'retryDelay' | 'failOn'> &
  Pick<Message, 'prefix' | 'gone' | 'topicName' | 'workflow'>;

/** Whether an answer says that an endpoint of a URL group is to be removed from its group. */
export const isGone = ({ gone, topicName }: Pick<Message, 'gone' | 'topicName'>, status: number): boolean =>
  status === 410 && gone === 'remove' && topicName !== undefined;

/** Whether an answer fails a message at once. A run's client decides by a header which of its answers do. */
function failsAtOnce(message: Judged, { failOn }: Pick<Account, 'failOn'>, response: DestinationResponse) {
  const isFinal = response.isFinal === true || isNonRetryable(response, message.prefix);
  if (isFinal || isGone(message, response.status)) return true;
  const list = message.workflow === undefined ? (message.failOn ?? failOn) : undefined;
  return list !== undefined && isListed(list, response.status);
}

/**
 * Decides the outcome of an attempt. Only 2XX is success. A 489 with the header `…-NonRetryable-Error` fails the message at once, and
 * so does an answer that no other attempt would change, and a status that the message's or the account's `fail-on` lists. Other answers are retried until the retries are used up.
 *
 * @param attempt 0 for the first delivery
 * @param now Unix milliseconds
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

/** An answer to an attempt, with the outcome that it leads to. */
export interface Decided {
  /** The answer, with the error that the kind of its message finds in it. */
  readonly response: DestinationResponse;
  readonly outcome: Outcome;
}

/**
 * Decides the outcome of an attempt from the answer to it.
 *
 * @param attempt 0 for the first delivery
 * @param now Unix milliseconds
 */
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
 * Finds the URL that is told when a message fails. A run is told of as a whole, by the workflow; and the failure of a callback or an
 * alarm is told to nobody: the account's own would go in circles.
 */
export const accountCallbackOf = (
  { failureCallback, workflow, callbackOf, isAlarm }: Message,
  account: Account,
): string | undefined =>
  failureCallback === undefined && workflow === undefined && callbackOf === undefined && isAlarm !== true
    ? account.failureCallback
    : undefined;

/**
 * Finds the URL that is told after an attempt: of a message that has failed, or of a run whose endpoint was told of its failure, and
 * has no failure function.
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
