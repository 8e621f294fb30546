import { durationForm, longestOpenMs } from '../shared/bounds.ts';
import { dayMs, hourMs, minuteMs, secondMs } from '../shared/clock.ts';
import { badField, quote } from '../error/httpError.ts';

const unitMs = { d: dayMs, h: hourMs, m: minuteMs, s: secondMs } as const;
type DurationUnit = keyof typeof unitMs;

const allUnits: readonly DurationUnit[] = ['d', 'h', 'm', 's'];

/** Any letter is accepted as a unit, so that the error can list those that are allowed. */
const form = new RegExp(durationForm('a-z'));

/**
 * Reads a duration such as `30s` or `1d10h30m5s`. Each unit occurs at most once, in any order.
 *
 * @param units the allowed units
 * @returns milliseconds; above 200,000 years inexact, and Infinity for hundreds of digits
 * @throws HttpError 400
 */
export function parseDurationMs(
  field: string,
  text: string,
  units: readonly DurationUnit[] = allUnits,
): number {
  const allowed = `a whole number and a unit (${units.join(', ')}), as in "30s"${
    units.length > 1 ? ', or several of them, as in "1h30m"' : ''
  }`;
  const malformed = (): Error => badField(`${field} is ${quote(text)}; allowed is ${allowed}.`);
  if (!form.test(text)) throw malformed();

  const seen = new Set<string>();
  let totalMs = 0;
  for (const [, digits = '', letter = ''] of text.matchAll(/(\d+)([a-z])/g)) {
    const unit = units.find((known) => known === letter);
    if (unit === undefined || seen.has(unit)) throw malformed();
    seen.add(unit);
    totalMs += Number(digits) * unitMs[unit];
  }
  return totalMs;
}

const longestOverlap = '7d';

/**
 * Reads how long a replaced secret stays valid, in milliseconds.
 *
 * @throws HttpError 400
 */
export function parseOverlapMs(overlap = '24h'): number {
  const overlapMs = parseDurationMs('overlap', overlap);
  if (overlapMs <= parseDurationMs('overlap', longestOverlap)) return overlapMs;
  throw badField(`overlap is ${quote(overlap)}; allowed is from 0s to ${longestOverlap}.`);
}

/**
 * Reads for how long an attempt stays open, in milliseconds.
 *
 * @throws HttpError 400
 */
export function parseOpenMs(field: string, text: string): number {
  const openMs = parseDurationMs(field, text);
  if (openMs > 0 && openMs <= longestOpenMs) return openMs;
  throw badField(`${field} is ${quote(text)}; allowed is 1s to 7d.`);
}

/** Formats whole seconds for {@link parseDurationMs}: `1d10h30m5s`, or `0s`. */
export function formatDuration(durationMs: number): string {
  let restMs = durationMs;
  let text = '';
  for (const unit of allUnits) {
    const count = Math.floor(restMs / unitMs[unit]);
    if (count > 0) text += `${count}${unit}`;
    restMs -= count * unitMs[unit];
  }
  return text === '' ? '0s' : text;
}
