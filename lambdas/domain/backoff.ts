import { dayMs, secondMs } from './clock.ts';
import { evaluateRetryDelay, parseRetryDelay } from './retryDelay.ts';

/** No retry waits longer than a day, whoever asked for it. */
export const longestRetryDelayMs = dayMs;

const clamp = (delayMs: number): number => Math.min(Math.max(delayMs, 0), longestRetryDelayMs);

/** The default: `min(86400, e^(2.5 n))` seconds before retry n, n = 1 being the first. */
export const defaultBackoffMs = (retry: number): number =>
  Math.round(Math.min(longestRetryDelayMs, Math.exp(2.5 * retry) * secondMs));

/**
 * Milliseconds to wait before a retry.
 *
 * @param retried how many retries were made before this one: 0 for the first
 * @param expression the message's retry-delay expression, checked when it was accepted
 */
export function backoffMs(retried: number, expression: string | undefined): number {
  if (expression === undefined) return defaultBackoffMs(retried + 1);
  const value = evaluateRetryDelay(parseRetryDelay('Svc-Retry-Delay', expression), retried);
  return Number.isNaN(value) ? defaultBackoffMs(retried + 1) : Math.round(clamp(value));
}

/**
 * What a destination asks for with `Retry-After` (RFC 9110, 10.2.3: seconds or an HTTP date) on a 429 or 503, in
 * milliseconds from `now`, up to a day; undefined when it asks for nothing that can be read.
 */
export function retryAfterMs(status: number, value: string | undefined, now: number): number | undefined {
  if (value === undefined || (status !== 429 && status !== 503)) return undefined;
  const text = value.trim();
  if (/^\d{1,12}$/.test(text)) return clamp(Number(text) * secondMs);
  const date = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? undefined : clamp(date - now);
}
