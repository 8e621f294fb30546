import { readTrail, trailParameters } from '../audit/trail.ts';
import { ok } from '../http/handler.ts';
import { api } from '../http/messagingApi.ts';
import { readQuery } from '../http/query.ts';
import { statsRoutes } from '../http/routeTable.ts';
import { getAttention } from '../statistics/attention.ts';
import { getHostTime, getHostTimes } from '../statistics/hostTimes.ts';
import { getLaneTimes } from '../statistics/laneTimes.ts';
import { expositionType, readMetrics } from '../statistics/metrics.ts';
import { getOwnStats } from '../statistics/ownStats.ts';

export const handler = api('stats', statsRoutes, {
  'GET /v2/stats': async ({ caller }) => ok(await getOwnStats(caller)),
  'GET /v2/stats/attention': async ({ caller }) => ok(await getAttention(caller.account)),
  'GET /v2/stats/hosts': async (call) => {
    const { account } = call.caller;
    const { host, since } = readQuery(call, ['host', 'since']);
    return ok(host === undefined ? await getHostTimes(account) : await getHostTime(account, host, since));
  },
  'GET /v2/stats/lanes': async (call) =>
    ok(await getLaneTimes(call.caller.account, readQuery(call, ['queueName', 'flowControlKey']))),
  'GET /v2/search': async (call) => {
    const { findNames } = await import('../statistics/search.ts');
    return ok(await findNames(call.caller.account, readQuery(call, ['q']).q));
  },
  'GET /v2/metrics': async ({ caller }) => ({
    status: 200,
    body: Buffer.from(await readMetrics(caller.account)),
    headers: { 'content-type': expositionType, 'cache-control': 'no-store' },
  }),
  'GET /v2/audit': async (call) => ok(await readTrail(call.caller.account, readQuery(call, trailParameters))),
});
