/** Reads the query of a list, or of an operation on many entries. */
import { badField, badRequest, quote } from '../error/httpError.ts';
import type { Header } from '../shared/headers.ts';
import { orders, type Order } from '../table/cursor.ts';

interface Grammar {
  /** Today’s names, by the older ones. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Parameters whose value is not split at commas. */
  readonly undivided: ReadonlySet<string>;
}

/** The parameters of a request. Each is removed when it is read. Those that are left are unknown. */
export class QueryReader {
  readonly #left = new Map<string, readonly string[]>();

  /** @throws HttpError 400 for an empty value */
  constructor(query: readonly Header[], { aliases, undivided }: Grammar) {
    for (const [written, value] of query) {
      const name = Object.hasOwn(aliases, written) ? (aliases[written] ?? written) : written;
      const values = undivided.has(name) ? [value] : value.split(',').map((part) => part.trim());
      if (values.includes('')) throw badField(`${written} is empty; a filter must have a value.`);
      this.#left.set(name, [...(this.#left.get(name) ?? []), ...values]);
    }
  }

  list(name: string): readonly string[] | undefined {
    const values = this.#left.get(name);
    this.#left.delete(name);
    return values;
  }

  /** @throws HttpError 400, like all readers below */
  single(name: string): string | undefined {
    const [first, ...more] = this.list(name) ?? [];
    if (more.length > 0) throw badField(`${name} is given ${more.length + 1} times; allowed is once.`);
    return first;
  }

  whole(name: string, least: number, most: number): number | undefined {
    const text = this.single(name);
    return text === undefined ? undefined : wholeOf(name, text, least, most);
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T | undefined {
    const text = this.single(name);
    return text === undefined ? undefined : found(name, text, allowed, inAnyCase);
  }

  order(): Order | undefined {
    const text = this.single('order');
    return text === undefined ? undefined : found('order', text, orders);
  }

  /** Inclusive. */
  period(from = 'fromDate', to = 'toDate'): Period {
    const period = {
      fromDate: this.whole(from, 0, latestDateMs),
      toDate: this.whole(to, 0, latestDateMs),
    };
    checkPeriod(period, from, to);
    return period;
  }

  /** @param known all parameters that the request can have */
  end(known: readonly string[]): void {
    const [unknown] = this.#left.keys();
    if (unknown === undefined) return;
    throw badRequest(
      'field_unknown',
      `${quote(unknown)} is not a filter here; known are ${known.join(', ')}.`,
    );
  }
}

export interface Period {
  readonly fromDate: number | undefined;
  readonly toDate: number | undefined;
}

/** Unix milliseconds: the upper bound of a number of 15 digits. */
export const latestDateMs = 999_999_999_999_999;

/** @throws HttpError 400 for a period that ends before it begins */
export function checkPeriod(
  { fromDate = 0, toDate = Infinity }: Period,
  from = 'fromDate',
  to = 'toDate',
): void {
  if (fromDate > toDate) {
    throw badField(
      `${from} is ${fromDate}, which is after ${to}, ${toDate}; allowed is the same or earlier.`,
    );
  }
}

export function wholeOf(name: string, text: string, least: number, most: number): number {
  const value = /^(?!-0)-?\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw badField(`${name} is ${quote(text)}; allowed is a whole number from ${least} to ${most}.`);
}

export const inAnyCase = (text: string): string => text.toLowerCase();

/** @param form returns the part of the text that must be the same; by default all of it */
export function found<T extends string>(
  name: string,
  text: string,
  allowed: readonly T[],
  form: (text: string) => string = (same) => same,
): T {
  const value = allowed.find((one) => form(one) === form(text));
  if (value !== undefined) return value;
  throw badField(`${name} is ${quote(text)}; allowed are ${allowed.join(', ')}.`);
}
