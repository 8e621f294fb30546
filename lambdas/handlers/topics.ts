import { api } from '../http/api.ts';
import type { AuthenticatedCall } from '../http/handler.ts';
import { firstVariable } from '../http/request.ts';
import {
  addEndpoints,
  deleteGroup,
  getGroup,
  listGroups,
  removeEndpoints,
  setDefaults,
  type GroupRequest,
} from '../services/urlGroups.ts';

const groupRequest = (call: AuthenticatedCall): GroupRequest => ({
  name: firstVariable(call),
  body: call.request.body,
  prefix: call.canonical.prefix,
  host: call.request.host,
});

export const handler = api<'topics'>({
  'GET /v2/topics': async ({ canonical, caller }) => ({
    status: 200,
    body: await listGroups(caller.account, canonical.prefix),
  }),
  'GET /v2/topics/{name}': async (call) => ({
    status: 200,
    body: await getGroup(call.caller.account, firstVariable(call), call.canonical.prefix),
  }),
  'PATCH /v2/topics/{name}': async (call) => ({
    status: 200,
    body: await setDefaults(call.caller.account, groupRequest(call)),
  }),
  'DELETE /v2/topics/{name}': async (call) => {
    await deleteGroup(call.caller.account, firstVariable(call));
    return { status: 200, body: {} };
  },
  'POST /v2/topics/{name}/endpoints': async (call) => {
    await addEndpoints(call.caller.account, groupRequest(call));
    return { status: 200, body: {} };
  },
  'DELETE /v2/topics/{name}/endpoints': async (call) => {
    await removeEndpoints(call.caller.account, groupRequest(call));
    return { status: 200, body: {} };
  },
});
