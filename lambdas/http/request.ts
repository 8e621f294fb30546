import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Header } from '../domain/dialect.ts';
import { badRequest, quote } from '../domain/httpError.ts';
import type { Route } from './routes.ts';

/**
 * A request as the handlers see it, whichever door it came through: nothing behind this file knows a gateway's event.
 */
export interface ApiRequest {
  readonly id: string;
  readonly method: string;
  /** As it was sent: not decoded, nothing collapsed that was not collapsed on its way. */
  readonly rawPath: string;
  /** What a client puts before the version segment: the stage's name, or what a custom domain's mapping has there. */
  readonly basePath: string;
  /** Decoded, in the order they were sent. */
  readonly query: readonly Header[];
  /** Names in lower case. */
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
  readonly callerIp: string;
  /** The host the request was sent to. */
  readonly host: string;
}

const pairs = (values: Record<string, string[] | undefined> | null): readonly Header[] =>
  Object.entries(values ?? {}).flatMap(([name, list]) => (list ?? []).map((value): Header => [name, value]));

/**
 * Reads the proxy event of a REST API. Its `path` is raw; its captured path variables are decoded, and are not read.
 */
export function readRequest(event: APIGatewayProxyEvent): ApiRequest {
  const { requestContext } = event;
  return {
    id: requestContext.requestId,
    method: event.httpMethod,
    rawPath: event.path,
    basePath: requestContext.path.slice(0, Math.max(0, requestContext.path.indexOf('/v2/'))),
    query: pairs(event.multiValueQueryStringParameters),
    headers: pairs(event.multiValueHeaders).map(([name, value]): Header => [name.toLowerCase(), value]),
    body: Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8'),
    callerIp: requestContext.identity.sourceIp,
    host: requestContext.domainName ?? '',
  };
}

/** A request whose route is known. */
interface Routed {
  readonly request: ApiRequest;
  readonly route: Route;
}

/**
 * What stands in the raw path behind a route's fixed beginning, byte for byte. A path before the version segment, as a
 * custom domain's mapping puts there, is passed over.
 */
export function rawTail({ request, route }: Routed): string {
  const { rawPath } = request;
  const fixed = route.path.slice(0, route.path.indexOf('{'));
  const start = rawPath.indexOf(fixed);
  return start === -1 ? '' : rawPath.slice(start + fixed.length);
}

const decoded = (raw: string): string => {
  try {
    return decodeURIComponent(raw);
  } catch {
    throw badRequest(`The path has ${quote(raw)}, which is percent-encoded, but not correctly.`);
  }
};

/**
 * The first variable of a route's path, decoded.
 *
 * @throws HttpError 400 when it is not correctly encoded
 */
export const firstVariable = (call: Routed): string => decoded(rawTail(call).replace(/\/.*$/s, ''));

/**
 * A variable of a path that has several, none of them the rest of it, decoded.
 *
 * @throws HttpError 400 when it is not correctly encoded
 */
export function variable({ request, route }: Routed, name: string): string {
  const place = route.path.split('/').indexOf(`{${name}}`);
  const path = request.rawPath.slice(Math.max(0, request.rawPath.indexOf('/v2/')));
  return decoded(path.split('/')[place] ?? '');
}
