import { parseFilter } from '../domain/filters.ts';
import { api } from '../http/api.ts';
import type { AuthenticatedCall } from '../http/handler.ts';
import { listLogs } from '../services/logs.ts';

const logs = ({ canonical, caller }: AuthenticatedCall): ReturnType<typeof listLogs> =>
  listLogs(caller.account, parseFilter('logs', canonical.otherQuery));

export const handler = api<'logs'>({
  'GET /v2/logs': async (call) => ({ status: 200, body: await logs(call) }),
  // The older clients know the log by this name, and its entries by the key `events`.
  'GET /v2/events': async (call) => {
    const page = await logs(call);
    return { status: 200, body: { ...page, events: page.logs } };
  },
});
