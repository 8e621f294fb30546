import { parseFilter } from '../api/filters.ts';
import { ok, type AuthenticatedCall } from '../http/handler.ts';
import { api } from '../http/messagingApi.ts';
import { logsRoutes } from '../http/routeTable.ts';
import { listLogs } from '../services/log/logs.ts';

const logs = ({ canonical, caller }: AuthenticatedCall, copies: number): ReturnType<typeof listLogs> =>
  listLogs(caller.account, parseFilter('logs', canonical.otherQuery), copies);

export const handler = api<'logs'>(logsRoutes, {
  'GET /v2/logs': async (call) => ok(await logs(call, 1)),
  // Older clients know the log by this name, and read its entries from the field `events`.
  'GET /v2/events': async (call) => {
    const page = await logs(call, 2);
    return ok({ ...page, events: page.logs });
  },
});
