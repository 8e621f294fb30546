import type { Changes } from '../audit/changes.ts';
import { decodedOrAsIs } from '../shared/text.ts';
import type { Header } from '../shared/headers.ts';
import { badRequest, quote } from '../error/httpError.ts';
import { parseName } from '../value/names.ts';
import { variablesIn } from './findRoute.ts';
import type { Route } from './route.ts';
import type { Context } from 'aws-lambda';

/** A request for the handlers, made by `gateway.ts` and `functionUrl/`. */
export interface ApiRequest {
  readonly id: string;
  readonly method: string;
  /** Not decoded, with all its slashes. */
  readonly rawPath: string;
  /** The path before the API's own: the name of a stage, or a custom domain's mapping. */
  readonly basePath: string;
  /** Decoded, in the order sent. */
  readonly query: readonly Header[];
  /** Names in lower case. */
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
  readonly callerIp: string;
  readonly host: string;
}

interface Routed {
  readonly request: ApiRequest;
  readonly route: Route;
}

const decoded = (raw: string): string => {
  try {
    return decodeURIComponent(raw);
  } catch {
    throw badRequest(
      'request_malformed',
      `The path has ${quote(raw)}, which is percent-encoded, but not correctly.`,
    );
  }
};

/**
 * Reads a variable from the raw path. `{name}` is one segment and is decoded. `{name+}` is the rest of the path, byte for byte.
 *
 * @throws HttpError 400 if a segment is not correctly encoded
 * @throws Error if the route has no such variable
 */
export function variable({ request, route }: Routed, name: string): string {
  const isRest = route.path.includes(`{${name}+}`);
  if (!isRest && !route.path.includes(`{${name}}`)) {
    throw new Error(`The path ${route.path} has no variable ${name}.`);
  }
  const value = variablesIn(route.path, request.rawPath)[name] ?? '';
  return isRest ? value : decoded(value);
}

/**
 * Reads the name of a URL group, a queue or a schedule.
 *
 * @param of begins the error's sentence, such as `The name of the queue`
 * @throws HttpError 400
 */
export const nameIn = (routed: Routed, name: string, of: string): string =>
  parseName(of, variable(routed, name));

/**
 * Splits the rest of a path into segments. Those that are correctly encoded are decoded. Workflow clients do
 * not encode an event's id, which may have slashes and percent signs. A trailing slash adds no segment.
 */
export const segmentsOf = (routed: Routed, name: string): readonly string[] =>
  variable(routed, name).replace(/\/$/, '').split('/').map(decodedOrAsIs);

/**
 * Refuses a body if another body would be delivered instead.
 *
 * @param why the end of the error's sentence
 * @throws HttpError 400
 */
export function refuseBody({ request: { body } }: { readonly request: ApiRequest }, why: string): void {
  if (body.length > 0)
    throw badRequest(
      'body_invalid',
      `The body has ${body.length} bytes; a body is not allowed, because ${why}.`,
    );
}

export interface ApiResponse {
  readonly status: number;
  /** Sent as JSON; bytes are sent unchanged, with the content type from `headers`. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** For the audit trail. */
  readonly changes?: Changes | undefined;
}

/**
 * The answer for API Gateway and function URLs. Each header has one value, because function URLs do not
 * support `multiValueHeaders`.
 */
export interface Result {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isBase64Encoded?: boolean;
}

/** Never rejects: errors are answers, too. */
export type RequestHandler = (request: ApiRequest, context: Context) => Promise<Result>;
