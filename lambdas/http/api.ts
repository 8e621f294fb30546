import middy, { type MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { canonicalize, type CanonicalRequest } from '../domain/dialect.ts';
import { forbidden, HttpError, notFound } from '../domain/httpError.ts';
import { bearerToken } from '../domain/credentials.ts';
import { authenticate, type Caller } from '../services/authenticate.ts';
import { settings } from '../settings.ts';
import { log } from '../transport/log.ts';
import { readRequest, type ApiRequest } from './request.ts';
import { findRoute, type ApiFunction, type Route, type routes } from './routes.ts';

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

type RoutesOf<F extends ApiFunction> = Extract<(typeof routes)[number], { readonly function: F }>;

/** What answers each route of a function, by method and path: the compiler sees to it that none is forgotten. */
export type Endpoints<F extends ApiFunction> = {
  readonly [R in RoutesOf<F> as `${R['method']} ${R['path']}`]: (
    call: R['access'] extends 'open' ? Call : AuthenticatedCall,
  ) => Promise<ApiResponse> | ApiResponse;
};

/** What the middlewares find out about a request, in the order in which they run. */
interface ApiContext extends Context {
  call?: Call;
  caller?: Caller;
}

type Middleware = MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult, Error, ApiContext>;

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

const route: Middleware = {
  before: ({ event, context }) => {
    const request = readRequest(event);
    const { method, rawPath } = request;
    const { route: found, matching } = findRoute(method, rawPath);
    if (found === undefined && matching.length === 0) throw notFound(`There is no ${method} ${rawPath}.`);
    if (found === undefined) {
      const allow = [...new Set(matching.map((other) => other.method))].join(', ');
      throw new HttpError(405, `The path exists, but not with ${method}; allowed are ${allow}.`, { allow });
    }
    const canonical = canonicalize(request.headers, request.query, settings.headerPrefixes);
    context.call = { request, canonical, route: found };
  },
};

/** The token in the query, where a webhook's sender can set nothing else, or else the one in the header. */
function tokenOf({ request, canonical }: Call): string | undefined {
  return canonical.queryToken ?? bearerToken(request.headers);
}

const token: Middleware = {
  before: async ({ context }) => {
    const { call } = context;
    if (call === undefined || call.route.access === 'open') return;
    context.caller = await authenticate(tokenOf(call));
    if (call.route.access === 'write' && context.caller.access === 'read') {
      throw forbidden('The token is read-only; this operation changes something and takes the full token.');
    }
  },
};

/** The Lambda handler of one function of the route table. */
export function api<F extends ApiFunction>(endpoints: Endpoints<F>) {
  const table = new Map<string, (call: AuthenticatedCall | Call) => Promise<ApiResponse> | ApiResponse>(
    Object.entries(endpoints),
  );
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult, Error, ApiContext>()
    .use(errors)
    .use(route)
    .use(token)
    .handler(async (_event, context) => {
      const { call, caller } = context;
      const endpoint = call && table.get(`${call.route.method} ${call.route.path}`);
      if (call === undefined || endpoint === undefined) throw new Error('The route has no endpoint.');
      const { status, body, headers } = await endpoint({ ...call, caller });
      return json(status, body, headers);
    });
}
