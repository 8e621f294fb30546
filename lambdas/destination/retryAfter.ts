/** The moment at which a destination asks to be called again after a failure. */
import { dayMs, hourMs, secondMs } from '../shared/clock.ts';
import { valuesOf, type Header } from '../shared/headers.ts';
import type { DestinationResponse } from './response.ts';

/**
 * The headers of rate limits that name the end of a period. Many limiters send them with every answer, so they count only where the
 * limit was reached: with a status in `limitingStatuses`, or where nothing remains.
 */
const limits = [
  { reset: 'x-ratelimit-reset', remaining: 'x-ratelimit-remaining' },
  { reset: 'x-ratelimit-reset-requests', remaining: 'x-ratelimit-remaining-requests' },
  { reset: 'x-ratelimit-reset-tokens', remaining: 'x-ratelimit-remaining-tokens' },
] as const;

/** 429 Too Many Requests and 503 Service Unavailable. */
const limitingStatuses: ReadonlySet<number> = new Set([429, 503]);

const isZero = (value: string): boolean => /^0+(\.0*)?$/.test(value.trim());

/** Milliseconds in each unit of a duration as Go prints it. Headers are read as Latin-1, so a `µ` in UTF-8 is two characters. */
const units: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ...['us', 'µs', 'μs', 'Âµs', 'Î¼s'].map((unit) => [unit, 1e-3] as const),
  ['ms', 1],
  ['s', secondMs],
  ['m', 60 * secondMs],
  ['h', hourMs],
  // Go has no days. The client of workflows sends what its user wrote.
  ['d', dayMs],
]);

/** The least number that is a Unix time in seconds, as GitHub sends it (2001 and later): as a delay it would be 31 years. */
const leastUnixSeconds = 1e9;
/** The least number that is a Unix time in milliseconds, of 2001 and later. */
const leastUnixMs = 1e12;

/** Characters of the longest value that is read: none of the forms is longer. */
const longestValue = 100;

/** @returns Unix milliseconds; undefined for a text of another form */
function momentOf(value: string, now: number): number | undefined {
  const text = value.trim();
  if (text.length > longestValue) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) {
    const number = Number(text);
    if (number >= leastUnixMs) return number;
    return number >= leastUnixSeconds ? number * secondMs : now + number * secondMs;
  }
  if (/^(\d+(\.\d*)?[^\d.\s]+)+$/.test(text)) return addDuration(now, text);
  // The forms of RFC 9110, 5.6.7, all of which begin with a day's name. The oldest names no zone, and means GMT.
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
 * Finds the moment that a failed answer asks for: by `Retry-After`, and where a rate limit was reached by `X-RateLimit-Reset`,
 * `X-RateLimit-Reset-Requests` and `X-RateLimit-Reset-Tokens`. Each is a number of seconds, an HTTP date, a duration such as `6m5s`,
 * or a Unix time. The latest counts.
 *
 * @param now Unix milliseconds
 * @returns whole Unix milliseconds, later than now; undefined where no header names a later moment
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
