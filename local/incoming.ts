/** A request as AWS would receive it. The gateway and the function URL make events from it. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { decodedOrAsIs } from '../lambdas/shared/text.ts';
import type { Origin } from './network/network.ts';

/**
 * Splits a request's target into raw path and query. Characters that Node read as Latin-1 are
 * percent-encoded. The target may be a whole URL (RFC 9112, 3.2.2).
 */
export function splitUrl(target: string): { path: string; query: string } {
  const url = target.replace(/^https?:\/\/[^/?]*\/?/i, '/');
  const ascii = url.replace(
    /[\u0080-\u00ff]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const mark = ascii.indexOf('?');
  return mark < 0 ? { path: ascii, query: '' } : { path: ascii.slice(0, mark), query: ascii.slice(mark + 1) };
}

export function requestTime(receivedAt: number): string {
  const [, day = '', month = '', year = '', time = ''] = new Date(receivedAt).toUTCString().split(' ');
  return `${day}/${month}/${year}:${time} +0000`;
}

/**
 * Headers about the connection. AWS does not pass them on, and neither those that `Connection` names (RFC
 * 9110, 7.6.1).
 */
const hopByHop = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The headers that AWS passes on, in order and as spelled, and those that it adds. */
export function passedHeaders(
  { rawHeaders, headers }: IncomingMessage,
  { ip, proto, port }: Origin,
): readonly (readonly [string, string])[] {
  const named = namedByConnection(headers.connection);
  const sent = rawHeaders.flatMap((spelling, at) => {
    const name = spelling.toLowerCase();
    const isPassed = at % 2 === 0 && !hopByHop.has(name) && !named.includes(name);
    return isPassed ? [[spelling, rawHeaders[at + 1] ?? ''] as const] : [];
  });
  return [
    ...sent,
    ['X-Forwarded-For', ip],
    ['X-Forwarded-Proto', proto],
    ['X-Forwarded-Port', String(port)],
    ['X-Amzn-Trace-Id', traceId()],
  ];
}

/** Headers that `Connection` cannot remove, because they are essential to a request. */
const endToEnd = ['authorization', 'content-length', 'content-type', 'host'];

/** The lower-case headers that `Connection` names. */
function namedByConnection(connection: string | undefined): readonly string[] {
  if (connection === undefined || /^(keep-alive|close)$/i.test(connection)) return [];
  return connection
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => !endToEnd.includes(name));
}

/**
 * `Root=1-<epoch seconds>-<96 bits>`, both in hexadecimal. The random bits are from a UUID, because Node.js
 * keeps some ready; others cost a system call.
 */
function traceId(): string {
  const seconds = Math.floor(Date.now() / 1000);
  return `Root=1-${seconds.toString(16)}-${randomUUID().replaceAll('-', '').slice(0, 24)}`;
}

/** The decoded query, with all values of each name. */
export function queryParameters(query: string): ReadonlyMap<string, string[]> {
  const parameters = new Map<string, string[]>();
  for (const pair of query.split('&').filter((text) => text !== '')) {
    const equals = pair.indexOf('=');
    const name = formDecoded(equals < 0 ? pair : pair.slice(0, equals));
    const values = parameters.get(name) ?? [];
    values.push(equals < 0 ? '' : formDecoded(pair.slice(equals + 1)));
    parameters.set(name, values);
  }
  return parameters;
}

function formDecoded(text: string): string {
  return decodedOrAsIs(text.replaceAll('+', ' '));
}
