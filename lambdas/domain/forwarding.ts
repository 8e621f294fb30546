import { bearerToken, readToken } from './credentials.ts';
import type { Header } from './dialect.ts';
import { badRequest, quote } from './httpError.ts';

/** Headers that belong to one connection (RFC 9110, 7.6.1) or that the service sets itself. */
const ownHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'host',
  'content-length',
]);

/** Headers that gateways on the way to the service add. */
const gatewayHeaders = /^(x-forwarded-|x-amzn-|x-amz-cf-|via$|forwarded$|cloudfront-|cdn-loop$)/;

const token = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

/**
 * Checks the headers that are to be forwarded by name.
 *
 * @param field how the author wrote a header's name, for the error's text
 * @throws HttpError 400 for a name or value that cannot be sent
 */
export function checkForwarded(
  headers: readonly Header[],
  field: (name: string) => string,
): readonly Header[] {
  for (const [name, value] of headers) {
    if (!token.test(name)) throw badRequest(`${field(name)} does not name an HTTP header.`);
    if (ownHeaders.has(name)) {
      throw badRequest(`${field(name)} cannot be forwarded: the service sets ${name} itself.`);
    }
    // What a field value may hold: RFC 9110, 5.5. The HTTP client sends it as Latin-1.
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw badRequest(`${field(name)} is ${quote(value)}; allowed are printable characters of Latin-1.`);
    }
  }
  return headers;
}

/**
 * The headers of an incoming request that go on to the destination when all are to be forwarded: not those of the
 * connection or of a gateway, and not an `Authorization` that carries a token of the service. A sender's own does.
 */
export function passedOn(headers: readonly Header[]): readonly Header[] {
  const bearer = bearerToken(headers);
  const carriesToken = bearer !== undefined && readToken(bearer) !== undefined;
  return headers.filter(
    ([name]) =>
      !ownHeaders.has(name) && !gatewayHeaders.test(name) && !(carriesToken && name === 'authorization'),
  );
}

/** The first list, and those of the second whose names it does not have. */
export function withDefaults(headers: readonly Header[], defaults: readonly Header[]): readonly Header[] {
  const given = new Set(headers.map(([name]) => name));
  return [...headers, ...defaults.filter(([name]) => !given.has(name))];
}
