import { validateHeaderName, validateHeaderValue } from 'node:http';
import { badField } from '../error/httpError.ts';

/** A lower-case name and one value. */
export type Header = readonly [name: string, value: string];

/**
 * Bytes of all headers: API Gateway's limit for a request with its first line. It also applies in JSON and through the publish
 * URL.
 */
export const largestHeaders = 10_240;

/**
 * Checks headers from JSON, and lower-cases their names.
 *
 * @param field for the error
 * @throws HttpError 400 for headers that HTTP forbids
 */
export function readHeaders(field: string, headers: readonly Header[]): readonly Header[] {
  for (const [name, value] of headers) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      throw badField(
        `${field}.${name} is no HTTP header, or its value is not allowed in one; allowed are letters, digits and "-" in a name, and Latin-1 text without line breaks in a value.`,
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

/** Capitalizes a header's name, as in `Content-Type`. */
export const shownName = (name: string): string =>
  name.toLowerCase().replace(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase());

/** Adds a dialect's prefix: `retry-delay` becomes `Upstash-Retry-Delay`, for example. */
export function headerName(prefix: string, canonical: string): string {
  return `${prefix}-${shownName(canonical)}`;
}

export const valuesOf = (headers: readonly Header[], wanted: string): readonly string[] =>
  headers.flatMap(([name, value]) => (name === wanted ? [value] : []));

export type HeaderLists = Readonly<Record<string, readonly string[]>>;

/**
 * Converts headers to JSON. Assigning keys such as `__proto__` from outside would have other effects, so `Object.fromEntries`
 * defines them.
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
 * Converts headers to one text for each name. Commas join values (RFC 9110, 5.3), and semicolons join cookies (RFC 9113,
 * 8.2.3).
 */
export const joinedHeaders = (headers: readonly Header[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(shownHeaders(headers)).map(([name, values]) => [
      name,
      values.join(name === 'Cookie' ? '; ' : ', '),
    ]),
  );
