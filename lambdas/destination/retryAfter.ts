/** When a failed destination asks to be called again. */
import { dayMs, hourMs, secondMs } from '../shared/clock.ts';
import { valuesOf, type Header } from '../shared/headers.ts';
import type { DestinationResponse } from './response.ts';

/**
 * Rate-limit headers that say when a period ends. Many servers always send them, so they count only at the
 * limit: with a status in `limitingStatuses`, or if nothing remains.
 */
const limits = [
  { reset: 'x-ratelimit-reset', remaining: 'x-ratelimit-remaining' },
  { reset: 'x-ratelimit-reset-requests', remaining: 'x-ratelimit-remaining-requests' },
  { reset: 'x-ratelimit-reset-tokens', remaining: 'x-ratelimit-remaining-tokens' },
] as const;

const limitingStatuses: ReadonlySet<number> = new Set([429, 503]);

const isZero = (value: string): boolean => /^0+(\.0*)?$/.test(value.trim());

/** Milliseconds of Go's duration units. Headers are read as Latin-1, so a `µ` in UTF-8 is two characters. */
const units: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ...['us', 'µs', 'μs', 'Âµs', 'Î¼s'].map((unit) => [unit, 1e-3] as const),
  ['ms', 1],
  ['s', secondMs],
  ['m', 60 * secondMs],
  ['h', hourMs],
  // Not a unit of Go, but the workflow client sends durations as its user wrote them.
  ['d', dayMs],
]);

/** Numbers from here on are Unix seconds (2001 and later). As a delay, this would be 31 years. */
const leastUnixSeconds = 1e9;
/** Numbers from here on are Unix milliseconds (2001 and later). */
const leastUnixMs = 1e12;

/** Characters. */
const longestValue = 100;

/** @returns Unix milliseconds; undefined for other texts */
function momentOf(value: string, now: number): number | undefined {
  const text = value.trim();
  if (text.length > longestValue) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) {
    const number = Number(text);
    if (number >= leastUnixMs) return number;
    return number >= leastUnixSeconds ? number * secondMs : now + number * secondMs;
  }
  if (/^(\d+(\.\d*)?[^\d.\s]+)+$/.test(text)) return addDuration(now, text);
  // All forms of HTTP dates begin with a weekday (RFC 9110, 5.6.7). The oldest form names no zone, and means
  // GMT.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return undefined;
  const moment = Date.parse(/:\d\d \d{4}$/.test(text) ? `${text} GMT` : text);
  return Number.isNaN(moment) ? undefined : moment;
}

function addDuration(now: number, text: string): number | undefined {
  let moment = now;
  for (const [, count, unit = ''] of text.matchAll(/(\d+(?:\.\d*)?)([^\d.]+)/g)) {
    const unitMs = units.get(unit);
    if (unitMs === undefined) return undefined;
    moment += Number(count) * unitMs;
  }
  return moment;
}

function* hintsOf(status: number, headers: readonly Header[]): Generator<string> {
  yield* valuesOf(headers, 'retry-after');
  for (const { reset, remaining } of limits) {
    if (limitingStatuses.has(status) || valuesOf(headers, remaining).some(isZero)) {
      yield* valuesOf(headers, reset);
    }
  }
}

/**
 * Finds when a failed answer asks to be called again: by `Retry-After`, and at a rate limit by
 * `X-RateLimit-Reset`, `X-RateLimit-Reset-Requests` and `X-RateLimit-Reset-Tokens`. Each is a number of
 * seconds, an HTTP date, a duration such as `6m5s`, or a Unix time. The latest counts.
 *
 * @returns whole Unix milliseconds after `now`, if any
 */
export function retryAfterOf(
  { status, headers }: Pick<DestinationResponse, 'status' | 'headers'>,
  now: number,
): number | undefined {
  const moments = [...hintsOf(status, headers)]
    .map((value) => momentOf(value, now) ?? now)
    .filter((moment) => moment > now);
  return moments.length === 0 ? undefined : Math.ceil(Math.max(...moments));
}
