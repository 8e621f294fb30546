import type { Changes } from '../audit/changes.ts';
import { decodedOrAsIs } from '../shared/text.ts';
import type { Header } from '../shared/headers.ts';
import { badRequest, quote } from '../error/httpError.ts';
import { parseName } from '../value/names.ts';
import { variablesIn } from './findRoute.ts';
import type { Route } from './route.ts';
import type { Context } from 'aws-lambda';

/** A request as the handlers see it; `gateway.ts` and `functionUrl.ts` make it of their events. */
export interface ApiRequest {
  readonly id: string;
  readonly method: string;
  /** The path as AWS passes it on: not decoded, and with every slash that arrived there. */
  readonly rawPath: string;
  /** The path before the API's own: the stage's name, or the path of a custom domain's mapping. */
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

/** A request whose route is known. */
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
 * Reads a variable of a route's path from the raw path: `{name}`, one segment, decoded; `{name+}`, the rest of the path,
 * byte for byte as it was sent.
 *
 * @throws HttpError 400 when a segment is not correctly encoded
 * @throws Error when the route has no such variable
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
 * Reads a variable that is the name of a URL group, a queue or a schedule.
 *
 * @param of the subject of the error's text, such as `The name of the queue`
 * @throws HttpError 400 for a text that can be no name, too
 */
export const nameIn = (routed: Routed, name: string, of: string): string =>
  parseName(of, variable(routed, name));

/**
 * Reads the rest of a path as its segments, each decoded where it is encoded correctly: workflow clients write the id of an event
 * into the path as it is, with slashes and percent signs of its own. A slash at the end of the path adds no segment, as everywhere.
 */
export const segmentsOf = (routed: Routed, name: string): readonly string[] =>
  variable(routed, name).replace(/\/$/, '').split('/').map(decodedOrAsIs);

/**
 * Refuses a body where another one is delivered: its sender expects it to be taken.
 *
 * @param why the reason, as the end of a sentence
 * @throws HttpError 400
 */
export function refuseBody({ request: { body } }: { readonly request: ApiRequest }, why: string): void {
  if (body.length > 0)
    throw badRequest('body_invalid', `The body has ${body.length} bytes; allowed is none, because ${why}.`);
}

/** The answer of an endpoint. */
export interface ApiResponse {
  readonly status: number;
  /** Sent as JSON; bytes are sent as they are, with the content type that `headers` give. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** For the audit trail. */
  readonly changes?: Changes | undefined;
}

/**
 * The result of a function behind an API, in a form that API Gateway and function URLs both take. A header has one value: function
 * URLs know no `multiValueHeaders`.
 */
export interface Result {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isBase64Encoded?: boolean;
}

/** Answers a request. It never rejects: an error is an answer, too. */
export type RequestHandler = (request: ApiRequest, context: Context) => Promise<Result>;
