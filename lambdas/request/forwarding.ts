import { headerTextForm } from '../shared/bounds.ts';
import { headerText, type Header } from '../shared/headers.ts';
import { readToken } from '../account/credentials.ts';
import { badField, quote } from '../error/httpError.ts';

/**
 * Headers that belong to one connection (RFC 9110, 7.6.1), or that the service sets. `Accept-Encoding` is
 * included, because the service reads the answer, not the sender.
 */
const ownHeaders = new Set([
  'accept-encoding',
  'connection',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'host',
  'content-length',
]);

/** Whether a lower-case header belongs to one connection, or is set by the service. */
export const isOwnHeader = (name: string): boolean => ownHeaders.has(name) || name.startsWith('proxy-');

/** Headers that gateways in front of the service add. */
const gatewayHeaders = /^(x-forwarded-|x-amzn-|x-amz-cf-|via$|forwarded$|cloudfront-|cdn-loop$)/;

export const isGatewayHeader = (name: string): boolean => gatewayHeaders.test(name);

const token = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const sendable = new RegExp(headerTextForm);

/** Whether a lower-case header is never forwarded. */
const staysBehind = (name: string): boolean => isOwnHeader(name) || isGatewayHeader(name);

/**
 * Selects the headers that a request forwards by name. Clients may forward all headers of a request that they
 * received, so headers of connections and gateways are dropped, not refused.
 *
 * @param field returns a header's name as the client wrote it, for the error
 * @throws HttpError 400 for a name or value that cannot be sent
 */
export function forwardedByName(
  headers: readonly Header[],
  field: (name: string) => string,
): readonly Header[] {
  const forwarded = headers.filter(([name]) => !staysBehind(name));
  for (const [name, value] of forwarded) {
    if (!token.test(name)) throw badField(`${field(name)} does not name an HTTP header.`);
    if (!sendable.test(value)) {
      throw badField(`${field(name)} is ${quote(headerText(value))}; allowed are printable characters.`);
    }
  }
  return forwarded;
}

/** Whether a header contains a token of the service, even among values joined by commas. */
const carriesToken = ([name, value]: Header): boolean =>
  name === 'authorization' && value.split(/[\s,]/).some((part) => readToken(part) !== undefined);

/**
 * Selects the headers of an incoming request if all are forwarded: without those of the connection and of
 * gateways, and without tokens of the service.
 */
export const passedOn = (headers: readonly Header[]): readonly Header[] =>
  headers.filter((header) => !staysBehind(header[0]) && !carriesToken(header));

export function addMissingHeaders(
  headers: readonly Header[],
  defaults: readonly Header[],
): readonly Header[] {
  const given = new Set(headers.map(([name]) => name));
  return [...headers, ...defaults.filter(([name]) => !given.has(name))];
}

export const isTraceHeader = ([name]: Header): boolean => name === 'traceparent' || name === 'tracestate';
