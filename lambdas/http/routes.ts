/** All paths of the APIs, for the gateways and the handlers. */
import { finder } from './findRoute.ts';
import { routesIn, type ApiFunction, type Route } from './route.ts';
import {
  accountsRoutes,
  consoleRoutes as consoleTable,
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
} from './routeTable.ts';

export type { ApiFunction, MessagingFunction, Route } from './route.ts';

export const routes = [
  ...routesIn('publish', publishRoutes),
  ...routesIn('messages', messagesRoutes),
  ...routesIn('logs', logsRoutes),
  ...routesIn('urlGroups', urlGroupsRoutes),
  ...routesIn('queues', queuesRoutes),
  ...routesIn('flowControl', flowControlRoutes),
  ...routesIn('dlq', dlqRoutes),
  ...routesIn('schedules', schedulesRoutes),
  ...routesIn('workflows', workflowsRoutes),
  ...routesIn('keys', keysRoutes),
  ...routesIn('alarms', alarmsRoutes),
  ...routesIn('stats', statsRoutes),
  ...routesIn('description', descriptionRoutes),
];
export const managementRoutes = routesIn('accounts', accountsRoutes);
/** Both APIs serve the console, because a page may call only the API that it came from. */
export const consoleRoutes = routesIn('console', consoleTable);

export const findRoute = finder(routes);
export const findManagementRoute = finder(managementRoutes);

/** A gateway's route. It takes all methods of a path, which may end with a greedy variable. */
export interface GatewayRoute {
  readonly path: string;
  readonly function: ApiFunction;
}

/** The segments by which a gateway finds the function: `/v2` and one more, or `/console`. */
const familyOf = (path: string): string => /^(\/v2)?\/[^/]+/.exec(path)?.[0] ?? path;

/**
 * The spellings of a path that clients use, such as `/v2/Schedules`. API Gateway's resources are
 * case-sensitive.
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
 * The gateway's routes: for each function the beginnings of its paths, each with one greedy variable. The
 * function finds the exact route. So the gateway has few routes, and refuses only paths with an unknown
 * beginning.
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

/** All routes, which the local stage serves on one port. */
export const gatewayRoutes = gatewayRoutesOf([...routes, ...managementRoutes, ...consoleRoutes]);
