import type { Route } from './route.ts';

export const segmentsOf = (path: string): readonly string[] => path.slice(1).split('/');
export const isVariable = (segment: string): boolean => segment.startsWith('{');
const isGreedy = (segment: string): boolean => segment.endsWith('+}');

interface Patterns {
  /** The path as described, with or without a trailing slash. */
  readonly exact: RegExp;
  /**
   * Matches even with extra slashes or if the case of operation names differs, because a published Go client
   * sends `/v2/Schedules/…`. Variables and the rest of a path are matched byte for byte.
   */
  readonly lenient: RegExp;
}

function patternsOf(path: string): Patterns {
  const make = (slash: string, end: string, flags: string): RegExp => {
    const parts = segmentsOf(path).map((segment) => {
      const name = segment.replace(/[{}+]/g, '');
      if (isGreedy(segment)) return `/(?<${name}>.+)`;
      return isVariable(segment) ? `${slash}(?<${name}>[^/]+)` : `${slash}${segment}`;
    });
    return new RegExp(`^${parts.join('')}${end}$`, flags);
  };
  return { exact: make('/', '/?', 's'), lenient: make('/+', '/*', 'si') };
}

const known = new Map<string, Patterns>();

/**
 * Reads a route's variables from a request's path as they were sent. @returns undefined if the path does not
 * match
 */
export function variablesIn(routePath: string, rawPath: string): Readonly<Record<string, string>> {
  const patterns = known.get(routePath) ?? patternsOf(routePath);
  known.set(routePath, patterns);
  const path = rawPath.slice(ownPathAt(rawPath));
  return (patterns.exact.exec(path) ?? patterns.lenient.exec(path))?.groups ?? {};
}

/**
 * Whether one path takes precedence: where they first differ, it has a fixed segment and the other has a
 * variable. `/v2/dlq/retry` is never the dead letter `retry`, with any method, because API Gateway finds a
 * resource before its method.
 */
function isFoundBefore(one: string, other: string): boolean {
  const others = segmentsOf(other);
  const own = segmentsOf(one);
  const parting = own.findIndex((segment, at) => segment !== others[at]);
  return !isVariable(own[parting] ?? '{}') && isVariable(others[parting] ?? '');
}

const foremost = (routes: readonly Route[]): readonly Route[] =>
  routes.filter(({ path }) => !routes.some((other) => isFoundBefore(other.path, path)));

/** Fixed segments come before variables, and variables before greedy ones. */
const bySpecificity = (one: Route, other: Route): number => rankOf(one) - rankOf(other);
const rankOf = ({ path }: Route): number =>
  segmentsOf(path).reduce(
    (rank, segment) => rank + (isGreedy(segment) ? 100 : isVariable(segment) ? 1 : 0),
    0,
  );

/**
 * Finds where the API's own path begins, after a custom domain's mapping or a stage. `/v2/` is searched
 * first, because a destination may contain `/console`.
 */
function ownPathAt(rawPath: string): number {
  const api = rawPath.indexOf('/v2/');
  return Math.max(0, api === -1 ? rawPath.search(/\/console(\/|$)/) : api);
}

/** Without trailing slashes. */
export const basePathOf = (rawPath: string): string =>
  rawPath.slice(0, ownPathAt(rawPath)).replace(/\/+$/, '');

/** @returns the most specific route for the method, and all routes whose path matches */
export type FindRoute = (
  method: string,
  rawPath: string,
) => { readonly route: Route | undefined; readonly matching: readonly Route[] };

/** HEAD is answered like GET, without the body (RFC 9110, 9.3.2). */
const routeFor = (method: string, matching: readonly Route[]): Route | undefined =>
  matching.find((route) => route.method === method) ??
  (method === 'HEAD' ? matching.find((route) => route.method === 'GET') : undefined);

/**
 * Makes the function that finds a request's route. The exact path is tried first: after `/v2/schedules/`,
 * `https://pause` is a destination. If it does not match, extra slashes and the case of operation names are
 * ignored, as in API Gateway.
 */
export function finder(table: readonly Route[]): FindRoute {
  const all = [...table].sort(bySpecificity).map((route) => ({ route, ...patternsOf(route.path) }));
  return (method, rawPath) => {
    const path = rawPath.slice(ownPathAt(rawPath));
    const exact = foremost(all.filter((one) => one.exact.test(path)).map(({ route }) => route));
    const found = routeFor(method, exact);
    if (found !== undefined) return { route: found, matching: exact };
    const matching = foremost(all.filter((one) => one.lenient.test(path)).map(({ route }) => route));
    return {
      route: routeFor(method, matching),
      matching: [...new Set([...exact, ...matching])],
    };
  };
}
