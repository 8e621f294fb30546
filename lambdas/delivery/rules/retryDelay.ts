import type { DestinationResponse } from '../../destination/response.ts';
import { longestRetryDelayMs } from '../../shared/bounds.ts';
import { secondMs } from '../../shared/clock.ts';
import { retryAfterOf } from '../../destination/retryAfter.ts';

/** The shortest delay that an answer can ask for. A wrong value must not use up all retries at once. */
const shortestHintedDelayMs = secondMs;

const clamp = (delayMs: number, leastMs = 0): number =>
  Math.min(Math.max(delayMs, leastMs), longestRetryDelayMs);

/** The default delay in milliseconds: `min(86400, e^(2.5 n))` seconds before retry n, from n = 1. */
export const defaultBackoffMs = (retry: number): number =>
  Math.round(Math.min(longestRetryDelayMs, Math.exp(2.5 * retry) * secondMs));

/**
 * Few messages have an expression, so its parser is loaded on first use.
 *
 * @param retried how many retries were made before this one: 0 for the first
 * @param expression the message's retry-delay expression, checked when it was accepted
 * @returns milliseconds to wait before a retry
 */
export async function backoffMs(retried: number, expression: string | undefined): Promise<number> {
  if (expression === undefined) return defaultBackoffMs(retried + 1);
  const { evaluateRetryDelay, parseRetryDelay } = await import('../../value/retryDelayExpression.ts');
  const value = evaluateRetryDelay(parseRetryDelay('Svc-Retry-Delay', expression), retried);
  return Number.isNaN(value) ? defaultBackoffMs(retried + 1) : Math.round(clamp(value));
}

/**
 * The delay before a retry, in milliseconds: as long as the answer asks for (`retryAfterOf`), between a
 * second and a day; or else by the message's settings.
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
