/**
 * The route table: the one list of the paths that the APIs answer. The CDK app makes the gateway's resources from it, the
 * local stage its router, and the handlers learn from their part of it which token a path needs.
 */
import { finder, isGreedy, isVariable, segmentsOf } from './findRoute.ts';
import type { ApiFunction, Route } from './route.ts';
import {
  accountsRoutes,
  publishRoutes,
  messagesRoutes,
  logsRoutes,
  urlGroupsRoutes,
  queuesRoutes,
  flowControlRoutes,
  dlqRoutes,
  schedulesRoutes,
  workflowsRoutes,
  keysRoutes,
  statsRoutes,
  descriptionRoutes,
  consoleRoutes,
} from './routeTable.ts';

export { consoleRoutes } from './routeTable.ts';
export type { Access, ApiFunction, ManagementFunction, MessagingFunction, Route } from './route.ts';

/** The messaging API: one in each region. The console, which each API serves, is a page for people, and no part of an API. */
export const routes = [
  ...publishRoutes,
  ...messagesRoutes,
  ...logsRoutes,
  ...urlGroupsRoutes,
  ...queuesRoutes,
  ...flowControlRoutes,
  ...dlqRoutes,
  ...schedulesRoutes,
  ...workflowsRoutes,
  ...keysRoutes,
  ...statsRoutes,
  ...descriptionRoutes,
] as const;

/** The management API: one for a deployment. */
export const managementRoutes = accountsRoutes;

const allRoutes = [...routes, ...managementRoutes, ...consoleRoutes];

/** The routes of one function. */
export type RoutesOf<F extends ApiFunction> = Extract<(typeof allRoutes)[number], { readonly function: F }>;

/**
 * Finds the path of the gateway's resource for a route. API Gateway allows one variable at each place of a path: where one
 * route has a greedy variable (`{name+}`), its resource also answers the routes with another variable at that place, and
 * the function behind it tells them apart.
 */
export function gatewayPath(route: Pick<Route, 'path'>): string {
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

export const findRoute = finder(routes);
export const findManagementRoute = finder(managementRoutes);

/** The paths of the routes that each resource of the gateway answers, by the resource's path. */
const answered = new Map<string, Set<string>>();
for (const route of allRoutes) {
  const path = gatewayPath(route);
  answered.set(path, (answered.get(path) ?? new Set()).add(route.path));
}

/**
 * Whether a resource of the gateway answers for several paths. Their methods differ, and only the function behind the resource
 * knows which path has which.
 */
export const isShared = (path: string): boolean => (answered.get(path)?.size ?? 0) > 1;

/** A route as the gateway has it. */
export interface GatewayRoute extends Route {
  /** Several routes share its resource, so the function itself answers 405 for methods that it does not know. */
  readonly isShared: boolean;
}

/** The routes with the paths of the gateway's resources. */
export const gatewayRoutes: readonly GatewayRoute[] = allRoutes.map((route) => {
  const path = gatewayPath(route);
  return { ...route, path, isShared: isShared(path) };
});
