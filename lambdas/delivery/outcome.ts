import { retryDelayMs } from './rules/retryDelay.ts';
import { valuesOf, headerName } from '../shared/headers.ts';
import { limitsOf, type Account } from '../account/account.ts';
import { kindOf, type OpenedDelivery } from '../message/kinds.ts';
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

/**
 * Decides the outcome of an attempt. Only 2XX is success. A 489 with the header `…-NonRetryable-Error` fails the message at once.
 * Other answers are retried until the retries are used up.
 *
 * @param attempt 0 for the first delivery
 * @param now Unix milliseconds
 */
export async function outcomeOf(
  message: Pick<DeliverySettings, 'maxRetries' | 'retryDelay'> & { readonly prefix: string },
  attempt: number,
  response: DestinationResponse,
  now: number,
): Promise<Outcome> {
  if (response.status >= 200 && response.status < 300) return { state: 'DELIVERED' };
  if (attempt >= message.maxRetries || isNonRetryable(response, message.prefix)) return { state: 'FAILED' };
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
  return { response: answer, outcome: await outcomeOf(message, attempt, answer, now) };
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
