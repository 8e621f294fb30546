/** Finds the route of a request. */
import type { Route } from './route.ts';

export const segmentsOf = (path: string): readonly string[] => path.slice(1).split('/');
export const isVariable = (segment: string): boolean => segment.startsWith('{');
export const isGreedy = (segment: string): boolean => segment.endsWith('+}');

/** Makes a regular expression of a path: a variable matches one segment, a greedy one the rest. */
const patternOf = (path: string): RegExp =>
  new RegExp(
    `^${segmentsOf(path)
      .map((segment) => (isGreedy(segment) ? '/.+' : isVariable(segment) ? '/[^/]+' : `/${segment}`))
      .join('')}/?$`,
    's',
  );

/** Orders the more specific route first: fixed segments before variables, and variables before greedy ones. */
const bySpecificity = (one: Route, other: Route): number => rankOf(one) - rankOf(other);
const rankOf = ({ path }: Route): number =>
  segmentsOf(path).reduce(
    (rank, segment) => rank + (isGreedy(segment) ? 100 : isVariable(segment) ? 1 : 0),
    0,
  );

/**
 * Finds where the API's own path begins in a raw path: a custom domain's mapping, and API Gateway's stage, may have put
 * something before it. A destination may have `/console` in its path as well, so `/v2/` counts first.
 */
export function ownPathAt(rawPath: string): number {
  const api = rawPath.indexOf('/v2/');
  return Math.max(0, api === -1 ? rawPath.search(/\/console(\/|$)/) : api);
}

/** @returns the most specific route of the request's method, and all that its path matches */
export type FindRoute = (
  method: string,
  rawPath: string,
) => { readonly route: Route | undefined; readonly matching: readonly Route[] };

/** Makes the function that finds a request's route by its raw path. */
export function finder(table: readonly Route[]): FindRoute {
  const patterns = [...table].sort(bySpecificity).map((route) => ({ route, pattern: patternOf(route.path) }));
  return (method, rawPath) => {
    const path = rawPath.slice(ownPathAt(rawPath));
    const matching = patterns.filter(({ pattern }) => pattern.test(path)).map(({ route }) => route);
    return { route: matching.find((route) => route.method === method), matching };
  };
}
