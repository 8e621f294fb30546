import { durationForm } from '../shared/bounds.ts';
import { dayMs, hourMs, minuteMs, secondMs } from '../shared/clock.ts';
import { badField, quote } from '../error/httpError.ts';

const unitMs = { d: dayMs, h: hourMs, m: minuteMs, s: secondMs } as const;
export type DurationUnit = keyof typeof unitMs;

const allUnits: readonly DurationUnit[] = ['d', 'h', 'm', 's'];

/** Any letter passes here: the error names the units that are allowed. */
const form = new RegExp(durationForm('a-z'));

/**
 * Reads a duration such as `30s` or `1d10h30m5s`. Each unit may stand once, in any order.
 *
 * @param field the header's name, for the error's text
 * @param units the units that the field may have
 * @returns milliseconds, Infinity for a number of hundreds of digits; above 200,000 years they are not exact
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

/** Prints whole seconds the way {@link parseDurationMs} reads them: `1d10h30m5s`, and `0s` for nothing. */
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
