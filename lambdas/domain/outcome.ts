import { backoffMs, retryAfterMs } from './backoff.ts';
import { headerName } from './dialect.ts';
import type { AttemptState, DeliverySettings } from './message.ts';

/** What came of one HTTP request to a destination. */
export interface DestinationResponse {
  /** 0 when there was no answer. */
  readonly status: number;
  /** Why there was no answer. */
  readonly error?: string | undefined;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: Uint8Array;
}

export interface Outcome {
  readonly state: Exclude<AttemptState, 'CANCELLED'>;
  /** Unix milliseconds; with RETRY only. */
  readonly nextDeliveryAt?: number;
}

const isNonRetryable = (response: DestinationResponse, prefix: string): boolean =>
  response.status === 489 &&
  response.headers[headerName(prefix, 'nonretryable-error').toLowerCase()]?.[0]?.toLowerCase() === 'true';

/**
 * Decides what follows an attempt: only 2XX is success; a 489 that says so ends the message; otherwise it is tried
 * again until its retries are used up.
 *
 * @param attempt 0 for the first delivery
 * @param now Unix milliseconds
 */
export function outcomeOf(
  message: Pick<DeliverySettings, 'maxRetries' | 'retryDelay'> & { readonly prefix: string },
  attempt: number,
  response: DestinationResponse,
  now: number,
): Outcome {
  if (response.status >= 200 && response.status < 300) return { state: 'DELIVERED' };
  if (attempt >= message.maxRetries || isNonRetryable(response, message.prefix)) return { state: 'FAILED' };
  const delayMs =
    retryAfterMs(response.status, response.headers['retry-after']?.[0], now) ??
    backoffMs(attempt, message.retryDelay);
  return { state: 'RETRY', nextDeliveryAt: now + delayMs };
}
