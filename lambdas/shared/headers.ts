import { isUtf8 } from 'node:buffer';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { badField } from '../error/httpError.ts';
import { callbackScopes, type Config } from './config.ts';
import { shownUrl } from './urlCredentials.ts';

/**
 * A lower-case name and a value. The value has a character for each byte, as Node.js reads and sends it, so
 * that bytes leave as they came. `headerText` reads it as text, and `headerBytes` writes text into it.
 */
export type Header = readonly [name: string, value: string];

/** Reads a value: UTF-8 if its bytes are valid UTF-8, otherwise Latin-1. */
export function headerText(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  return beyondBytes.test(value) || !isUtf8(bytes) ? value : bytes.toString();
}

/** Writes a text as a value, in UTF-8. */
export const headerBytes = (text: string): string => Buffer.from(text).toString('latin1');

const beyondBytes = /[^\0-\xff]/;

/**
 * Reads a header as AWS passes it. AWS does not document whether it decodes UTF-8, so both forms are
 * accepted.
 */
export const receivedHeader = ([name, value = '']: readonly [string, string?]): Header => [
  name.toLowerCase(),
  beyondBytes.test(value) ? headerBytes(value) : value,
];

/**
 * The most bytes of all headers: API Gateway's limit, together with the first line of the request. It also
 * applies to headers in JSON and in a publish URL.
 */
export const largestHeaders = 10_240;

/**
 * Reads headers from JSON, whose values are text.
 *
 * @throws HttpError 400 for headers that HTTP forbids
 */
export function readHeaders(field: string, headers: readonly Header[]): readonly Header[] {
  const pairs = headers.map(([name, text]): Header => {
    const value = headerBytes(text);
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      throw badField(
        `${field}.${name} is not a valid HTTP header; allowed are letters, digits and "-" in a name, and text without control characters in a value.`,
      );
    }
    return [name.toLowerCase(), value];
  });
  const size = pairs.flat().join('').length;
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
 * Converts headers to JSON, with values as text. Uses `Object.fromEntries`, because assigning a key such as
 * `__proto__` would have other effects.
 */
export function shownHeaders(headers: readonly Header[]): HeaderLists {
  const lists = new Map<string, string[]>();
  for (const [name, bytes] of headers) {
    const shown = shownName(name);
    const value = headerText(bytes);
    const values = lists.get(shown);
    if (values === undefined) lists.set(shown, [value]);
    else values.push(value);
  }
  return Object.fromEntries(lists);
}

/** Converts a configuration back to headers, as text and without credentials in URLs. */
export const shownConfig = (prefix: string, config: Config): HeaderLists =>
  Object.fromEntries(
    [...config].map(([name, values]) => {
      const isUrl = callbackScopes.some((scope) => scope === name);
      const texts = values.map(headerText);
      return [headerName(prefix, name), isUrl ? texts.map((url) => shownUrl(url.trim())) : texts];
    }),
  );
