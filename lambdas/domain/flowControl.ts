import { secondMs } from './clock.ts';
import { longestFlowControlKey } from './configuration.ts';
import { parseDurationMs } from './duration.ts';
import { badRequest, quote } from './httpError.ts';

/** How a lane of messages with one key is to be held back. */
export interface FlowControl {
  readonly key: string;
  /** Deliveries in flight at once. */
  readonly parallelism?: number | undefined;
  /** Deliveries started in one period. */
  readonly rate?: number | undefined;
  /** Seconds. */
  readonly period?: number | undefined;
}

const largest = 1_000_000_000;
const allowed =
  'parallelism=<n>, rate=<n>, period=<seconds or a duration such as 1m>, of which at least one of the first two';

/**
 * Reads the two headers of flow control.
 *
 * @param fields how their author wrote their names
 * @throws HttpError 400
 */
export function parseFlowControl(
  fields: { readonly key: string; readonly value: string },
  key: string | undefined,
  value: string | undefined,
): FlowControl | undefined {
  if (key === undefined && value === undefined) return undefined;
  if (key === undefined) throw badRequest(`${fields.value} is given without ${fields.key}.`);
  if (key === '' || key.length > longestFlowControlKey) {
    throw badRequest(`${fields.key} is ${quote(key)}; allowed are 1 to ${longestFlowControlKey} characters.`);
  }
  if (value === undefined)
    throw badRequest(`${fields.key} is given without ${fields.value}; allowed is ${allowed}.`);

  const malformed = (): Error => badRequest(`${fields.value} is ${quote(value)}; allowed is ${allowed}.`);
  const settings = new Map<string, string>();
  for (const part of value.split(',')) {
    const [, name, text] = /^\s*(\w+)\s*=\s*(\w+)\s*$/.exec(part) ?? [];
    if (name === undefined || text === undefined || settings.has(name.toLowerCase())) throw malformed();
    settings.set(name.toLowerCase(), text);
  }
  const take = (name: string): string | undefined => {
    const text = settings.get(name);
    settings.delete(name);
    return text;
  };
  const count = (text: string | undefined): number | undefined => {
    if (text === undefined) return undefined;
    if (!/^\d{1,10}$/.test(text) || Number(text) < 1 || Number(text) > largest) throw malformed();
    return Number(text);
  };
  const parallelism = count(take('parallelism'));
  const rate = count(take('rate') ?? take('ratepersecond'));
  const periodText = take('period');
  const period =
    periodText === undefined || /^\d+$/.test(periodText)
      ? count(periodText)
      : parseDurationMs(fields.value, periodText) / secondMs;
  if (settings.size > 0 || (parallelism === undefined && rate === undefined) || period === 0)
    throw malformed();
  return { key, parallelism, rate, period: rate === undefined ? period : (period ?? 1) };
}
