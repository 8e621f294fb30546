/**
 * The route table: the one list of what the API answers. The CDK app makes the gateway's resources from it,
 * the local stage its router, and the handlers read from it who may call them.
 */

/** Each function is one Lambda, and one file of the same name in `handlers/`. */
export type MessagingFunction =
  'publish' | 'messages' | 'logs' | 'topics' | 'queues' | 'dlq' | 'schedules' | 'keys' | 'description';
export type ManagementFunction = 'accounts';
export type ApiFunction = MessagingFunction | ManagementFunction;

/**
 * What a caller must show: `write` the account's token, `read` that or the read-only token, `operator` the credentials of
 * the management API, `open` nothing.
 */
export type Access = 'write' | 'read' | 'operator' | 'open';

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `{name}` is one segment; `{name+}`, always last, is the whole rest of the path, slashes included. */
  readonly path: string;
  readonly function: ApiFunction;
  readonly access: Access;
}

/** The messaging API: one in each region. */
export const routes = [
  { method: 'POST', path: '/v2/publish/{destination+}', function: 'publish', access: 'write' },
  { method: 'POST', path: '/v2/enqueue/{queueName}/{destination+}', function: 'publish', access: 'write' },
  { method: 'POST', path: '/v2/batch', function: 'publish', access: 'write' },

  { method: 'GET', path: '/v2/messages/{messageId}', function: 'messages', access: 'read' },
  { method: 'DELETE', path: '/v2/messages/{messageId}', function: 'messages', access: 'write' },
  { method: 'DELETE', path: '/v2/messages', function: 'messages', access: 'write' },

  { method: 'GET', path: '/v2/logs', function: 'logs', access: 'read' },
  { method: 'GET', path: '/v2/events', function: 'logs', access: 'read' },

  { method: 'GET', path: '/v2/topics', function: 'topics', access: 'read' },
  { method: 'GET', path: '/v2/topics/{name}', function: 'topics', access: 'read' },
  { method: 'PATCH', path: '/v2/topics/{name}', function: 'topics', access: 'write' },
  { method: 'DELETE', path: '/v2/topics/{name}', function: 'topics', access: 'write' },
  { method: 'POST', path: '/v2/topics/{name}/endpoints', function: 'topics', access: 'write' },
  { method: 'DELETE', path: '/v2/topics/{name}/endpoints', function: 'topics', access: 'write' },

  { method: 'POST', path: '/v2/queues', function: 'queues', access: 'write' },
  { method: 'GET', path: '/v2/queues', function: 'queues', access: 'read' },
  { method: 'GET', path: '/v2/queues/{name}', function: 'queues', access: 'read' },
  { method: 'DELETE', path: '/v2/queues/{name}', function: 'queues', access: 'write' },

  { method: 'GET', path: '/v2/dlq', function: 'dlq', access: 'read' },
  { method: 'DELETE', path: '/v2/dlq', function: 'dlq', access: 'write' },
  { method: 'POST', path: '/v2/dlq/retry', function: 'dlq', access: 'write' },
  { method: 'POST', path: '/v2/dlq/retry/{dlqId}', function: 'dlq', access: 'write' },
  { method: 'GET', path: '/v2/dlq/{dlqId}', function: 'dlq', access: 'read' },
  { method: 'DELETE', path: '/v2/dlq/{dlqId}', function: 'dlq', access: 'write' },

  { method: 'POST', path: '/v2/schedules/{schedule+}', function: 'schedules', access: 'write' },
  { method: 'GET', path: '/v2/schedules', function: 'schedules', access: 'read' },
  { method: 'GET', path: '/v2/schedules/{schedule}', function: 'schedules', access: 'read' },
  { method: 'DELETE', path: '/v2/schedules/{schedule}', function: 'schedules', access: 'write' },
  { method: 'POST', path: '/v2/schedules/{schedule}/pause', function: 'schedules', access: 'write' },
  { method: 'PATCH', path: '/v2/schedules/{schedule}/pause', function: 'schedules', access: 'write' },
  { method: 'POST', path: '/v2/schedules/{schedule}/resume', function: 'schedules', access: 'write' },
  { method: 'PATCH', path: '/v2/schedules/{schedule}/resume', function: 'schedules', access: 'write' },

  { method: 'GET', path: '/v2/keys', function: 'keys', access: 'read' },
  { method: 'POST', path: '/v2/keys/rotate', function: 'keys', access: 'write' },

  { method: 'GET', path: '/v2/health', function: 'description', access: 'open' },
  { method: 'GET', path: '/v2/openapi.json', function: 'description', access: 'open' },
] as const satisfies readonly Route[];

/**
 * The management API: one for a deployment, under a host of its own. `brand` is `svc`, or what another dialect has in its
 * place.
 */
export const managementRoutes = [
  { method: 'GET', path: '/v2/{brand}/users', function: 'accounts', access: 'operator' },
  { method: 'POST', path: '/v2/{brand}/users', function: 'accounts', access: 'operator' },
  { method: 'GET', path: '/v2/{brand}/users/{id}', function: 'accounts', access: 'operator' },
  { method: 'PATCH', path: '/v2/{brand}/users/{id}', function: 'accounts', access: 'operator' },
  { method: 'DELETE', path: '/v2/{brand}/users/{id}', function: 'accounts', access: 'operator' },
  { method: 'POST', path: '/v2/{brand}/rotate-token/{id}', function: 'accounts', access: 'operator' },
  { method: 'GET', path: '/v2/{brand}/stats/{id}', function: 'accounts', access: 'operator' },
  { method: 'GET', path: '/v2/{brand}/openapi.json', function: 'accounts', access: 'open' },
] as const satisfies readonly Route[];

const allRoutes = [...routes, ...managementRoutes];

/** The routes of one function. */
export type RoutesOf<F extends ApiFunction> = Extract<(typeof allRoutes)[number], { readonly function: F }>;

const segmentsOf = (path: string): readonly string[] => path.slice(1).split('/');
const isVariable = (segment: string): boolean => segment.startsWith('{');
const isGreedy = (segment: string): boolean => segment.endsWith('+}');

/**
 * The path of the gateway's resource that answers a route. API Gateway allows one variable at a place in a path, so where
 * a greedy one stands, it takes in the routes that have another there; the function behind it tells them apart.
 */
export function gatewayPath(route: Route): string {
  const own = segmentsOf(route.path);
  for (const { path } of allRoutes) {
    const segments = segmentsOf(path);
    const place = segments.length - 1;
    const isBeside =
      isGreedy(segments[place] ?? '') &&
      isVariable(own[place] ?? '') &&
      segments.slice(0, place).every((segment, index) => segment === own[index]);
    if (isBeside) return path;
  }
  return route.path;
}

/** A path as an expression: a variable is one segment, a greedy one the rest. */
const patternOf = (path: string): RegExp =>
  new RegExp(
    `^${segmentsOf(path)
      .map((segment) => (isGreedy(segment) ? '/.+' : isVariable(segment) ? '/[^/]+' : `/${segment}`))
      .join('')}/?$`,
    's',
  );

/** The more specific first: fixed segments before variables, and those before greedy ones. */
const bySpecificity = (one: Route, other: Route): number => rankOf(one) - rankOf(other);
const rankOf = ({ path }: Route): number =>
  segmentsOf(path).reduce(
    (rank, segment) => rank + (isGreedy(segment) ? 100 : isVariable(segment) ? 1 : 0),
    0,
  );

/** @returns the most specific route of the request's method, and all that its path matches */
export type FindRoute = (
  method: string,
  rawPath: string,
) => { readonly route: Route | undefined; readonly matching: readonly Route[] };

/**
 * Finds an API's route of a request by its raw path; what stands before the version segment, as a custom domain's mapping
 * puts it there, is passed over.
 */
function finder(table: readonly Route[]): FindRoute {
  const patterns = [...table].sort(bySpecificity).map((route) => ({ route, pattern: patternOf(route.path) }));
  return (method, rawPath) => {
    const path = rawPath.slice(Math.max(0, rawPath.indexOf('/v2/')));
    const matching = patterns.filter(({ pattern }) => pattern.test(path)).map(({ route }) => route);
    return { route: matching.find((route) => route.method === method), matching };
  };
}

export const findRoute = finder(routes);
export const findManagementRoute = finder(managementRoutes);

/** The routes as the gateway has them: with the paths of its resources. */
export const gatewayRoutes: readonly Route[] = allRoutes.map((route) => ({
  ...route,
  path: gatewayPath(route),
}));
