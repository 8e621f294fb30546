import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { Header } from './dialect.ts';
import { badRequest } from './httpError.ts';

/** Bytes of all headers together: a request's own can be no larger, because its gateway takes no more. */
const largestHeaders = 10_240;

/**
 * Reads headers that stand in JSON, by name, with one value or several.
 *
 * @param field what the error's text calls them
 * @throws HttpError 400 for what could not stand in an HTTP request
 */
export function readHeaders(
  field: string,
  headers: Readonly<Record<string, string | readonly string[]>>,
): readonly Header[] {
  const pairs = Object.entries(headers).flatMap(([name, values]): Header[] =>
    [values].flat().map((value): Header => [name.toLowerCase(), value]),
  );
  for (const [name, value] of pairs) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      throw badRequest(`${field}.${name} is no HTTP header, or its value cannot stand in one.`);
    }
  }
  const size = Buffer.byteLength(pairs.flat().join(''));
  if (size > largestHeaders) {
    throw badRequest(`${field} have ${size} bytes; allowed are ${largestHeaders}.`);
  }
  return pairs;
}
