/** What the Lambda handlers of both APIs have in common. */
import middy, { type MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { canonicalize, type CanonicalRequest } from '../domain/dialect.ts';
import { HttpError, notFound } from '../domain/httpError.ts';
import type { Caller } from '../services/authenticate.ts';
import { settings } from '../settings.ts';
import { log } from '../transport/log.ts';
import { readRequest, type ApiRequest } from './request.ts';
import type { ApiFunction, FindRoute, Route, RoutesOf } from './routes.ts';

export interface ApiResponse {
  readonly status: number;
  /** Sent as JSON. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request that has passed the middlewares. */
export interface Call {
  readonly request: ApiRequest;
  readonly canonical: CanonicalRequest;
  readonly route: Route;
}
export interface AuthenticatedCall extends Call {
  readonly caller: Caller;
}

/** What answers each route of a function, by method and path: the compiler sees to it that none is forgotten. */
export type Endpoints<F extends ApiFunction> = {
  readonly [R in RoutesOf<F> as `${R['method']} ${R['path']}`]: (
    call: R['access'] extends 'open' | 'operator' ? Call : AuthenticatedCall,
  ) => Promise<ApiResponse> | ApiResponse;
};

/** What the middlewares find out about a request, in the order in which they run. */
interface ApiContext extends Context {
  call?: Call;
  caller?: Caller;
}

export type Middleware = MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult, Error, ApiContext>;

const json = (
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): APIGatewayProxyResult => ({
  statusCode: status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

/** Turns what was thrown into an answer: our own errors as they are, everything else into a 500 that tells nothing. */
const errors: Middleware = {
  onError: ({ error, event, context }) => {
    const requestId = event.requestContext.requestId;
    if (error instanceof HttpError) {
      log.debug('refused', { requestId, status: error.status });
      return json(error.status, { error: error.message }, error.headers);
    }
    log.error('A request failed', {
      requestId,
      route: context.call?.route.path,
      error: error ?? 'nothing was thrown',
    });
    return json(500, {
      error: 'The service failed to handle the request; nothing was accepted. Send it again.',
    });
  },
};

const route = (find: FindRoute): Middleware => ({
  before: ({ event, context }) => {
    const request = readRequest(event);
    const { method, rawPath } = request;
    const { route: found, matching } = find(method, rawPath);
    if (found === undefined && matching.length === 0) throw notFound(`There is no ${method} ${rawPath}.`);
    if (found === undefined) {
      const allow = [...new Set(matching.map((other) => other.method))].join(', ');
      throw new HttpError(405, `The path exists, but not with ${method}; allowed are ${allow}.`, { allow });
    }
    const canonical = canonicalize(request.headers, request.query, settings.headerPrefixes);
    context.call = { request, canonical, route: found };
  },
});

/** The Lambda handler of one function of an API. */
export function handlerOf<F extends ApiFunction>(
  endpoints: Endpoints<F>,
  find: FindRoute,
  middlewares: readonly Middleware[],
) {
  const table = new Map<string, (call: AuthenticatedCall | Call) => Promise<ApiResponse> | ApiResponse>(
    Object.entries(endpoints),
  );
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult, Error, ApiContext>()
    .use([errors, route(find), ...middlewares])
    .handler(async (_event, context) => {
      const { call, caller } = context;
      const endpoint = call && table.get(`${call.route.method} ${call.route.path}`);
      if (call === undefined || endpoint === undefined) throw new Error('The route has no endpoint.');
      const { status, body, headers } = await endpoint({ ...call, caller });
      return json(status, body, headers);
    });
}
