import { largestCount, longestFlowControlKey } from '../shared/bounds.ts';
import { secondMs } from '../shared/clock.ts';
import { parseDurationMs } from './duration.ts';
import { badField, quote } from '../error/httpError.ts';

export interface FlowControl {
  readonly key: string;
  readonly parallelism?: number | undefined;
  /** The most deliveries that start in a period. */
  readonly rate?: number | undefined;
  /** Seconds. */
  readonly period?: number | undefined;
}

/** Seconds: a week. A lane remembers the starts of one period. */
const longestPeriod = 604_800;
/** Seconds. */
export const defaultPeriod = 1;

/** The period that records show, in seconds. */
export const shownPeriod = (period: number | undefined): number => period ?? defaultPeriod;

/** Characters that SQS refuses and JSON does not escape, and halves of surrogate pairs. */
const unsendable = /[\ufffe\uffff]|\p{Surrogate}/u;

const allowed =
  'parallelism=<n>, rate=<n>, period=<seconds or a duration such as 1m>, of which at least one of the first two';

/**
 * Reads a parallelism or rate.
 *
 * @throws HttpError 400
 */
export function parseCount(field: string, text: string): number {
  const count = /^\d{1,12}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= largestCount) return count;
  throw badField(`${field} is ${quote(text)}; allowed is a whole number from 1 to ${largestCount}.`);
}

/**
 * Reads a period: plain seconds, or a duration.
 *
 * @returns seconds
 * @throws HttpError 400
 */
export function parsePeriod(field: string, text: string): number {
  const seconds = /^\d{1,12}$/.test(text) ? Number(text) : parseDurationMs(field, text) / secondMs;
  if (seconds >= 1 && seconds <= longestPeriod) return seconds;
  throw badField(`${field} is ${quote(text)}; allowed is 1 second to ${longestPeriod} seconds, a week.`);
}

export function checkKey(field: string, key: string, longest: number): void {
  if (key !== '' && key.length <= longest && !unsendable.test(key)) return;
  throw badField(`${field} is ${quote(key)}; allowed are 1 to ${longest} characters of Unicode.`);
}

/**
 * Reads the two flow-control headers.
 *
 * @param fields the headers' names as given
 * @throws HttpError 400
 */
export function parseFlowControl(
  fields: { readonly key: string; readonly value: string },
  key: string | undefined,
  value: string | undefined,
): FlowControl | undefined {
  if (key === undefined && value === undefined) return undefined;
  if (key === undefined) throw badField(`${fields.value} is given without ${fields.key}.`);
  checkKey(fields.key, key, longestFlowControlKey);
  if (value === undefined)
    throw badField(`${fields.key} is given without ${fields.value}; allowed is ${allowed}.`);

  const malformed = (): Error => badField(`${fields.value} is ${quote(value)}; allowed is ${allowed}.`);
  const settings = new Map<string, string>();
  for (const part of value.split(',')) {
    const [, name, text] = /^\s*(\w+)\s*=\s*([^\s=]+)\s*$/.exec(part) ?? [];
    if (name === undefined || text === undefined || settings.has(name.toLowerCase())) throw malformed();
    settings.set(name.toLowerCase(), text);
  }
  const take = (name: string): string | undefined => {
    const text = settings.get(name);
    settings.delete(name);
    return text;
  };
  const read = (name: string, parse: typeof parseCount, called = name): number | undefined => {
    const text = take(name);
    return text === undefined ? undefined : parse(`The ${called} of ${fields.value}`, text);
  };
  const parallelism = read('parallelism', parseCount);
  // Older clients use another name for the rate.
  const rate = read('rate', parseCount) ?? read('ratepersecond', parseCount, 'ratePerSecond');
  const period = read('period', parsePeriod);
  if (settings.size > 0 || (parallelism === undefined && rate === undefined)) throw malformed();
  return { key, parallelism, rate, period: rate === undefined ? period : shownPeriod(period) };
}
