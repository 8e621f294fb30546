import { retryDelayMs } from './rules/retryDelay.ts';
import { valuesOf, headerName } from '../shared/headers.ts';
import type { AttemptState, DeliverySettings } from '../message/message.ts';
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
  const delayMs = await retryDelayMs(attempt, message.retryDelay, response.headers, now);
  return { state: 'RETRY', nextDeliveryAt: now + delayMs };
}
