import { parseFilter } from '../wire/filters.ts';
import { ok } from '../http/handler.ts';
import { api } from '../http/messagingApi.ts';
import { logsRoutes } from '../http/routeTable.ts';
import { listEvents, listLogs } from '../log/logs.ts';

export const handler = api('logs', logsRoutes, {
  'GET /v2/logs': async ({ canonical, caller }) =>
    ok(await listLogs(caller.account, parseFilter('logs', canonical.otherQuery))),
  // Older clients use this name for the log.
  'GET /v2/events': async ({ canonical, caller }) =>
    ok(await listEvents(caller.account, parseFilter('logs', canonical.otherQuery))),
});
