/**
 * The routes of each function, which are written beside their descriptions; `routes.ts` combines them. A
 * function's bundle has only its own routes, because a cold start compiles a regular expression for each
 * path. It has no descriptions.
 */
import type { RouteTable } from './route.ts';

export { accountsRoutes } from './openapi/operations/accounts.ts';
export { descriptionRoutes } from './openapi/operations/description.ts';
export { dlqRoutes } from './openapi/operations/dlq.ts';
export { flowControlRoutes } from './openapi/operations/flowControl.ts';
export { keysRoutes } from './openapi/operations/keys.ts';
export { logsRoutes } from './openapi/operations/logs.ts';
export { messagesRoutes } from './openapi/operations/messages.ts';
export { publishRoutes } from './openapi/operations/publish.ts';
export { queuesRoutes } from './openapi/operations/queues.ts';
export { schedulesRoutes } from './openapi/operations/schedules.ts';
export { alarmsRoutes, statsRoutes } from './openapi/operations/stats.ts';
export { urlGroupsRoutes } from './openapi/operations/urlGroups.ts';
export { workflowsRoutes } from './openapi/operations/workflows.ts';

export const consoleRoutes = {
  'GET /console': { access: 'open' },
  'GET /console/{file}': { access: 'open' },
} as const satisfies RouteTable;
