import type { DestinationResponse } from '../../destination/response.ts';
import { longestRetryDelayMs } from '../../shared/bounds.ts';
import { secondMs } from '../../shared/clock.ts';
import { retryAfterOf } from '../../destination/retryAfter.ts';

/** Milliseconds before a retry for which an answer asks, at least: a wrong hint must not use up all retries at once. */
const shortestHintedDelayMs = secondMs;

const clamp = (delayMs: number, leastMs = 0): number =>
  Math.min(Math.max(delayMs, leastMs), longestRetryDelayMs);

/** Computes the default delay, in milliseconds: `min(86400, e^(2.5 n))` seconds before retry n, n = 1 being the first. */
export const defaultBackoffMs = (retry: number): number =>
  Math.round(Math.min(longestRetryDelayMs, Math.exp(2.5 * retry) * secondMs));

/**
 * Computes the milliseconds to wait before a retry. Few messages have an expression, and its parser is loaded for the first.
 *
 * @param retried how many retries were made before this one: 0 for the first
 * @param expression the message's retry-delay expression, checked when it was accepted
 */
export async function backoffMs(retried: number, expression: string | undefined): Promise<number> {
  if (expression === undefined) return defaultBackoffMs(retried + 1);
  const { evaluateRetryDelay, parseRetryDelay } = await import('../../value/retryDelayExpression.ts');
  const value = evaluateRetryDelay(parseRetryDelay('Svc-Retry-Delay', expression), retried);
  return Number.isNaN(value) ? defaultBackoffMs(retried + 1) : Math.round(clamp(value));
}

/**
 * Computes the milliseconds to wait before a retry: until the moment that the answer asks for (`retryAfterOf`), from a second to a
 * day, and by the message's own settings where it asks for none.
 *
 * @param now Unix milliseconds
 */
export async function retryDelayMs(
  retried: number,
  expression: string | undefined,
  response: Pick<DestinationResponse, 'status' | 'headers'>,
  now: number,
): Promise<number> {
  const moment = retryAfterOf(response, now);
  return moment === undefined ? backoffMs(retried, expression) : clamp(moment - now, shortestHintedDelayMs);
}
