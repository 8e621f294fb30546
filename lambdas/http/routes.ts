/**
 * The route table: the one list of the paths that the APIs answer. The gateway's routes are made from it, on AWS
 * and on the local stage; the handlers find a request's route in their part of it, and which token that needs.
 */
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
  ...alarmsRoutes,
  ...statsRoutes,
  ...descriptionRoutes,
] as const;

/** The management API: one for a deployment. */
export const managementRoutes = accountsRoutes;

const allRoutes = [...routes, ...managementRoutes, ...consoleRoutes];

/** The routes of one function. */
export type RoutesOf<F extends ApiFunction> = Extract<(typeof allRoutes)[number], { readonly function: F }>;

export const findRoute = finder(routes);
export const findManagementRoute = finder(managementRoutes);

/** A route of the gateway: all methods of a path, which may end with a greedy variable. */
export interface GatewayRoute {
  readonly path: string;
  readonly function: ApiFunction;
}

/** The segments that say which function a path belongs to: `/v2` and one more, or `/console`. */
const familyOf = (path: string): string => /^(\/v2)?\/[^/]+/.exec(path)?.[0] ?? path;

/**
 * The spellings of a family's path that the gateway knows. API Gateway's resources are case-sensitive, while the function
 * behind them ignores the case of names: clients send `/v2/Schedules`.
 */
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
 * Makes the routes of the gateway: for each function the paths that begin its own, and one greedy variable for all below them. The
 * function finds the rest in the table, so the gateway has few routes, and none for a path that no route begins with.
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

/** The routes of both APIs, which the local stage serves at one port. */
export const gatewayRoutes = gatewayRoutesOf(allRoutes);
