import middy, { type MiddlewareObj } from '@middy/core';
import type { Context } from 'aws-lambda';
import { encodingOf, largestPayload } from '../wire/answerSize.ts';
import { canonicalize, type CanonicalRequest } from '../request/dialect.ts';
import { HttpError, notFound } from '../error/httpError.ts';
import type { Caller } from '../account/caller.ts';
import { settings } from '../aws/settings.ts';
import { log } from '../aws/log.ts';
import { count } from '../aws/metrics.ts';
import type { FindRoute } from './findRoute.ts';
import { throughGateway } from './gateway.ts';
import type { ApiRequest, ApiResponse, RequestHandler, Result } from './request.ts';
import type { ApiFunction, Route } from './route.ts';
import type * as tables from './routeTable.ts';

export type { ApiResponse } from './request.ts';

/** Answers 200. A promise does not compile, because it would be sent as `{}`. */
export const ok = <Body>(body: Body extends PromiseLike<unknown> ? never : Body): ApiResponse => ({
  status: 200,
  body,
});

/** Answers 200 with an empty object, and records changes for the audit trail. */
export const changed = (changes: ApiResponse['changes']): ApiResponse => ({ ...ok({}), changes });

export interface Call {
  readonly request: ApiRequest;
  readonly canonical: CanonicalRequest;
  readonly route: Route;
  /** Returns how long the function may still run. */
  readonly remainingMs: () => number;
}
export interface AuthenticatedCall extends Call {
  readonly caller: Caller;
}

export type RoutesOf<F extends ApiFunction> = (typeof tables)[`${F}Routes`];

/** The endpoints of a function. A missing one does not compile. */
export type Endpoints<F extends ApiFunction> = {
  readonly [Name in keyof RoutesOf<F>]: (
    call: RoutesOf<F>[Name] extends { access: 'open' | 'management' } ? Call : AuthenticatedCall,
  ) => Promise<ApiResponse> | ApiResponse;
};

/** The results of the middlewares, in their order. */
interface ApiContext extends Context {
  call?: Call;
  caller?: Caller;
  /** Masks values that the caller may not see. */
  shown?: (body: unknown) => unknown;
  changes?: ApiResponse['changes'];
  /** Called instead of the endpoint. */
  instead?: () => Promise<ApiResponse>;
}

export type Middleware = MiddlewareObj<ApiRequest, Result, Error, ApiContext>;

/**
 * Makes the result for AWS. Base64 is used if it is shorter; AWS decodes it for the client. The answer to
 * HEAD has no body.
 */
function resultOf(
  method: string,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Result {
  if (method === 'HEAD') {
    const isJson = !(body instanceof Uint8Array);
    return {
      statusCode: status,
      headers: { ...(isJson && { 'content-type': 'application/json' }), ...headers },
      body: '',
    };
  }
  if (body instanceof Uint8Array) {
    return {
      statusCode: status,
      headers: { ...headers },
      body: Buffer.from(body).toString('base64'),
      isBase64Encoded: true,
    };
  }
  const text = JSON.stringify(body);
  const { isBase64, bytes } = encodingOf(text);
  if (bytes > largestPayload) throw new Error(`The answer has ${bytes} bytes, more than Lambda returns.`);
  return {
    statusCode: status,
    headers: { 'content-type': 'application/json', ...headers },
    ...(isBase64 ? { body: Buffer.from(text).toString('base64'), isBase64Encoded: true } : { body: text }),
  };
}

const onlyReads = (method: string): boolean => method === 'GET' || method === 'HEAD';

/** The refusal after an error. Only a request that just reads has surely changed nothing. */
const failed = (method: string): string =>
  onlyReads(method)
    ? 'The service failed to answer the request. Send it again.'
    : 'The service failed on this request, which may still have taken effect. Send it again if that does no harm.';

/** Answers with an error, and a link to the page of the documents that explains its code (RFC 8288; `help` is in IANA's list). */
function refusal({ method, basePath }: ApiRequest, { status, code, message, headers }: HttpError): Result {
  const link = `<${settings.apiUrl ?? basePath}/console/errors.html#${code}>; rel="help"`;
  return resultOf(method, status, { error: message, code }, { ...headers, link });
}

export function refuse(request: ApiRequest, error: HttpError): Result {
  const { status, code } = error;
  log.debug('refused', { requestId: request.id, status, code });
  count(status < 500 ? 'Refused' : 'RequestsFailed');
  return refusal(request, error);
}

export const failedForNow = (method: string): string =>
  onlyReads(method)
    ? 'The service cannot answer the request now. Send it again a moment later.'
    : 'The service cannot finish this request now, which may still have taken effect. Send it again a moment later if that does no harm.';

/**
 * Turns an error into an answer: an `HttpError` keeps its message, an outage such as throttling becomes a
 * 503, other errors a 500. The messages of 503 and 500 do not name the cause.
 */
const errors: Middleware = {
  onError: async ({ error, event: request, context }) => {
    if (error instanceof HttpError) return refuse(request, error);
    log.error('A request failed', {
      requestId: request.id,
      route: context.call?.route.path,
      error: error ?? 'nothing was thrown',
    });
    count('RequestsFailed');
    // Loaded only now, because few requests fail.
    const { isFault } = await import('../job/fault.ts');
    const said = isFault(error)
      ? new HttpError(500, 'service_failed', failed(request.method))
      : new HttpError(503, 'service_failed', failedForNow(request.method));
    return refusal(request, said);
  },
};

/** The methods for the header `Allow`. */
const allowedOf = (matching: readonly Route[]): readonly string[] => [
  ...new Set(matching.flatMap(({ method }) => (method === 'GET' ? [method, 'HEAD'] : [method]))),
];

const route = (find: FindRoute): Middleware => ({
  before: ({ event: request, context }) => {
    const { method, rawPath } = request;
    const { route: found, matching } = find(method, rawPath);
    if (found === undefined && matching.length === 0)
      throw notFound('path_not_found', `There is no ${method} ${rawPath}.`);
    if (found === undefined) {
      const allow = allowedOf(matching).join(', ');
      throw new HttpError(
        405,
        'method_not_allowed',
        `The path exists, but not with ${method}; allowed are ${allow}.`,
        { allow },
      );
    }
    const canonical = canonicalize(request.headers, request.query, settings.headerPrefixes);
    const remainingMs = (): number => context.getRemainingTimeInMillis();
    context.call = { request, canonical, route: found, remainingMs };
  },
});

export function answerOf<F extends ApiFunction>(
  endpoints: Endpoints<F>,
  find: FindRoute,
  middlewares: readonly Middleware[],
): RequestHandler {
  const table = new Map<string, (call: AuthenticatedCall | Call) => Promise<ApiResponse> | ApiResponse>(
    Object.entries(endpoints),
  );
  return middy<ApiRequest, Result, Error, ApiContext>()
    .use([errors, route(find), ...middlewares])
    .handler(async (_request, context) => {
      const { call, caller, instead, shown = (body: unknown) => body } = context;
      const endpoint = call && table.get(call.route.name);
      if (call === undefined || endpoint === undefined) throw new Error('The route has no endpoint.');
      const { status, body, headers, changes } = await (instead ?? endpoint)({ ...call, caller });
      context.changes = changes;
      // The whole path. API Gateway's access log has only its beginning.
      log.debug('answered', { requestId: call.request.id, route: call.route.path, status });
      return resultOf(call.request.method, status, shown(body), headers);
    });
}

export const handlerOf = <F extends ApiFunction>(
  endpoints: Endpoints<F>,
  find: FindRoute,
  middlewares: readonly Middleware[],
) => throughGateway(answerOf(endpoints, find, middlewares));
