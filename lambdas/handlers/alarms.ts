import { getAlarms, putAlarms, removeAlarms, testAlarms } from '../alarm/alarms.ts';
import { ok } from '../http/handler.ts';
import { api } from '../http/messagingApi.ts';
import { refuseBody } from '../http/request.ts';
import { alarmsRoutes } from '../http/routeTable.ts';

export const handler = api('alarms', alarmsRoutes, {
  'GET /v2/alarms': async ({ caller }) => ok(await getAlarms(caller)),
  'PUT /v2/alarms': async ({ caller, request }) => ({ status: 200, ...(await putAlarms(caller, request)) }),
  'DELETE /v2/alarms': async ({ caller }) => ({ ...ok({}), changes: await removeAlarms(caller.account) }),
  'POST /v2/alarms/test': async (call) => {
    refuseBody(call, 'the test has its own');
    return ok(await testAlarms(call.caller.account));
  },
});
