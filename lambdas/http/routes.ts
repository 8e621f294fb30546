/** The only list of the APIs' paths, for the gateways and the handlers. */
import { finder } from './findRoute.ts';
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
  alarmsRoutes,
  statsRoutes,
  descriptionRoutes,
  consoleRoutes,
} from './routeTable.ts';

export { consoleRoutes } from './routeTable.ts';
export type { Access, ApiFunction, ManagementFunction, MessagingFunction, Route } from './route.ts';

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
  ...alarmsRoutes,
  ...statsRoutes,
  ...descriptionRoutes,
] as const;

export const managementRoutes = accountsRoutes;

const allRoutes = [...routes, ...managementRoutes, ...consoleRoutes];

export type RoutesOf<F extends ApiFunction> = Extract<(typeof allRoutes)[number], { readonly function: F }>;

export const findRoute = finder(routes);
export const findManagementRoute = finder(managementRoutes);

/** Takes all methods of a path, which may end with a greedy variable. */
export interface GatewayRoute {
  readonly path: string;
  readonly function: ApiFunction;
}

/** The segments that decide a path's function: `/v2` and one more, or `/console`. */
const familyOf = (path: string): string => /^(\/v2)?\/[^/]+/.exec(path)?.[0] ?? path;

/** A path in the spellings that clients use, such as `/v2/Schedules`. API Gateway's resources are case-sensitive. */
function spellingsOf(family: string): readonly string[] {
  const [, name] = /^\/v2\/([\w.]+)$/.exec(family) ?? [];
  if (name === undefined) return [family];
  const spellings = [
    name,
    name.toLowerCase(),
    name.toUpperCase(),
    name.charAt(0).toUpperCase() + name.slice(1),
  ];
  return [...new Set(spellings)].map((spelling) => `/v2/${spelling}`);
}

/**
 * For each function the gateway has the beginnings of its paths, each with one greedy variable. The function finds the exact
 * route, so the gateway has few routes, and refuses only paths with an unknown beginning.
 */
export function gatewayRoutesOf(table: readonly Route[]): readonly GatewayRoute[] {
  const byPath = new Map(
    table.flatMap((route) => {
      const family = familyOf(route.path);
      return spellingsOf(family).map((spelling): [string, GatewayRoute] => {
        const path = family === route.path ? spelling : `${spelling}/{proxy+}`;
        return [path, { path, function: route.function }];
      });
    }),
  );
  return [...byPath.values()];
}

/** The local stage serves them on one port. */
export const gatewayRoutes = gatewayRoutesOf(allRoutes);
