/** Times of workflows: durations with fractions and longer units, and moments in seconds. */
import { dayMs, hourMs, minuteMs, secondMs } from '../../shared/clock.ts';
import { quote } from '../../error/httpError.ts';
import { refusedSubmission } from './refusals.ts';

/** A month is 30 days and a year is 365. */
const unitMs: ReadonlyMap<string, number> = new Map([
  ['s', secondMs],
  ['m', minuteMs],
  ['h', hourMs],
  ['d', dayMs],
  ['w', 7 * dayMs],
  ['mo', 30 * dayMs],
  ['y', 365 * dayMs],
]);

/** Far above all limits, but small enough for exact milliseconds. */
const longestMs = 100_000 * dayMs;

/**
 * Parses a text such as `10m`, `1.5s` or `1d12h`. Each unit may occur once.
 *
 * @returns whole milliseconds, rounded up; undefined for a malformed text
 */
function durationMs(text: string): number | undefined {
  if (!/^(\d{1,12}(\.\d{1,12})?[a-z]{1,2})+$/.test(text)) return undefined;
  const seen = new Set<string>();
  let totalMs = 0;
  for (const [, count, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)([a-z]+)/g)) {
    const oneMs = unitMs.get(unit);
    if (oneMs === undefined || seen.has(unit)) return undefined;
    seen.add(unit);
    totalMs += Number(count) * oneMs;
  }
  return Math.ceil(totalMs);
}

/**
 * @param value seconds, or a duration with units
 * @returns whole milliseconds; undefined for a malformed or too long duration
 */
export function stepDurationMs(value: number | string): number | undefined {
  const text = typeof value === 'string' ? value.trim() : value;
  const ms =
    typeof text === 'number' || /^\d{1,12}(\.\d{1,12})?$/.test(text)
      ? Math.ceil(Number(text) * secondMs)
      : durationMs(text);
  return ms !== undefined && ms >= 0 && ms <= longestMs ? ms : undefined;
}

export const allowedDuration = 'seconds, or a number and a unit (s, m, h, d, w, mo, y), as in "10m"';

export function parseStepDurationMs(field: string, value: number | string): number {
  const ms = stepDurationMs(value);
  if (ms !== undefined) return ms;
  throw refusedSubmission(`${field} is ${quote(String(value))}; allowed are ${allowedDuration}.`);
}
