import { changed, ok, type AuthenticatedCall } from '../http/handler.ts';
import { api } from '../http/messagingApi.ts';
import { cursorOf, listAnswer } from '../http/query.ts';
import { nameIn } from '../http/request.ts';
import { urlGroupsRoutes } from '../http/routeTable.ts';
import { hold, release } from '../lane/holds.ts';
import { deleteGroup, getGroup, listGroups, type GroupRequest } from '../urlGroup/urlGroups.ts';
import { setDefaults } from '../urlGroup/defaults.ts';
import { endOverlaps, rotateSignatures } from '../urlGroup/rotateSignatures.ts';
import { addEndpoints, removeEndpoints } from '../urlGroup/endpoints.ts';

const groupName = (call: AuthenticatedCall): string => nameIn(call, 'name', 'The name of the URL group');

const groupRequest = (call: AuthenticatedCall): GroupRequest => ({
  name: groupName(call),
  body: call.request.body,
  prefix: call.canonical.prefix,
  host: call.request.host,
});

export const handler = api('urlGroups', urlGroupsRoutes, {
  'GET /v2/topics': async (call) =>
    listAnswer(call, await listGroups(call.caller.account, call.canonical.prefix, cursorOf(call))),
  'GET /v2/topics/{name}': async (call) =>
    ok(await getGroup(call.caller.account, groupName(call), call.canonical.prefix)),
  'PATCH /v2/topics/{name}': async (call) => {
    const { group, changes } = await setDefaults(call.caller.account, groupRequest(call));
    return { ...ok(group), changes };
  },
  'DELETE /v2/topics/{name}': async (call) =>
    changed(await deleteGroup(call.caller.account, groupName(call), call.canonical.prefix)),
  'POST /v2/topics/{name}/endpoints': async (call) => ({
    status: 200,
    ...(await addEndpoints(call.caller.account, groupRequest(call))),
  }),
  'POST /v2/topics/{name}/endpoints/rotate-signature': async (call) => ({
    status: 200,
    ...(await rotateSignatures(call.caller.account, groupRequest(call))),
  }),
  'DELETE /v2/topics/{name}/endpoints/rotate-signature': async (call) =>
    changed(await endOverlaps(call.caller.account, groupRequest(call))),
  'DELETE /v2/topics/{name}/endpoints': async (call) =>
    changed(await removeEndpoints(call.caller.account, groupRequest(call))),
  'POST /v2/topics/{name}/hold': async (call) => {
    const { account } = call.caller;
    await getGroup(account, groupName(call), call.canonical.prefix);
    return changed(await hold(call.caller, 'urlGroup', groupName(call), call.request.body));
  },
  'POST /v2/topics/{name}/release': async (call) =>
    changed(await release(call.caller.account, 'urlGroup', groupName(call))),
});
