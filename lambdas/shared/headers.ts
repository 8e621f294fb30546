import { validateHeaderName, validateHeaderValue } from 'node:http';
import { badField } from '../error/httpError.ts';

/** A header name in lower case, and one value. */
export type Header = readonly [name: string, value: string];

/**
 * Bytes of all headers together. API Gateway takes no larger ones in a request, its first line included; in JSON and through the
 * publish URL they may not be larger either.
 */
export const largestHeaders = 10_240;

/**
 * Checks headers that stood in JSON, and writes their names in lower case.
 *
 * @param field the headers' name in the error's text
 * @throws HttpError 400 for what could not stand in an HTTP request
 */
export function readHeaders(field: string, headers: readonly Header[]): readonly Header[] {
  for (const [name, value] of headers) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      throw badField(
        `${field}.${name} is no HTTP header, or its value cannot stand in one; allowed are letters, digits and "-" in a name, and Latin-1 text without line breaks in a value.`,
      );
    }
  }
  const pairs = headers.map(([name, value]): Header => [name.toLowerCase(), value]);
  const size = Buffer.byteLength(pairs.flat().join(''));
  if (size > largestHeaders) {
    throw badField(`${field} have ${size} bytes; allowed are ${largestHeaders}.`);
  }
  return pairs;
}

/** Writes a header's name as it is shown: each word with a capital first letter, as in `Content-Type`. */
export const shownName = (name: string): string =>
  name.toLowerCase().replace(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase());

/** Writes a canonical name with a dialect's prefix: `retry-delay` is `Upstash-Retry-Delay` in one of them. */
export function headerName(prefix: string, canonical: string): string {
  return `${prefix}-${shownName(canonical)}`;
}

/** Finds the values of a header, in the order in which they came. */
export const valuesOf = (headers: readonly Header[], wanted: string): readonly string[] =>
  headers.flatMap(([name, value]) => (name === wanted ? [value] : []));

/** Header values by name, for JSON. */
export type HeaderLists = Readonly<Record<string, readonly string[]>>;

/**
 * Shows headers as JSON does. Only here do names of headers become an object's keys: names come from outside, and
 * `constructor` or `__proto__` mean something else in an object that is filled by assignment. `Object.fromEntries` defines
 * keys instead, and `JSON.stringify` writes them all.
 */
export function shownHeaders(headers: readonly Header[]): HeaderLists {
  const lists = new Map<string, string[]>();
  for (const [name, value] of headers) {
    const shown = shownName(name);
    const values = lists.get(shown);
    if (values === undefined) lists.set(shown, [value]);
    else values.push(value);
  }
  return Object.fromEntries(lists);
}

/**
 * Shows headers with one text for each name: several values are separated by commas (RFC 9110, 5.3), several cookies by
 * semicolons (RFC 9113, 8.2.3).
 */
export const joinedHeaders = (headers: readonly Header[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(shownHeaders(headers)).map(([name, values]) => [
      name,
      values.join(name === 'Cookie' ? '; ' : ', '),
    ]),
  );
