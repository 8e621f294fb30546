import { retryDelayMs } from './rules/retryDelay.ts';
import { valuesOf, headerName, type Header } from '../shared/headers.ts';
import type { AttemptState, DeliverySettings } from '../message/message.ts';

/** The response to one HTTP request, or the error in its place. */
export interface DestinationResponse {
  /** 0 when there was no response. */
  readonly status: number;
  /** The reason why there was no response. */
  readonly error?: string | undefined;
  /** Names in lower case. */
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
  /** The body is a beginning: the rest was not read. */
  readonly isCut?: true | undefined;
  /** The service refused the destination, and made no request. */
  readonly isRefusal?: boolean | undefined;
}

export interface Outcome {
  readonly state: Exclude<AttemptState, 'CANCELED'>;
  /** Unix milliseconds; with RETRY only. */
  readonly nextDeliveryAt?: number;
}

const isNonRetryable = (response: DestinationResponse, prefix: string): boolean =>
  response.status === 489 &&
  valuesOf(response.headers, headerName(prefix, 'nonretryable-error').toLowerCase())[0]?.toLowerCase() ===
    'true';

/**
 * Decides the outcome of an attempt. Only 2XX is success. A 489 with the header `…-NonRetryable-Error` fails the message at once.
 * All else is retried until the retries are used up.
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
