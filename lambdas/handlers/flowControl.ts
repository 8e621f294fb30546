import { changed, ok, type AuthenticatedCall } from '../http/handler.ts';
import { api } from '../http/messagingApi.ts';
import { listAnswer, readQuery } from '../http/query.ts';
import { variable } from '../http/request.ts';
import { flowControlRoutes } from '../http/routeTable.ts';
import { hold, listHolds, release } from '../lane/holds.ts';
import { closeCircuitOf, listCircuits } from '../lane/hostCircuits.ts';
import {
  getFlowControl,
  getGlobalParallelism,
  listFlowControl,
  pauseFlowControl,
  pinFlowControl,
  resetFlowControlRate,
  resumeFlowControl,
  unpinFlowControl,
} from '../lane/flowControl.ts';

const resetRate = async (call: AuthenticatedCall) => {
  return changed(await resetFlowControlRate(call.caller.account, variable(call, 'key')));
};

export const handler = api('flowControl', flowControlRoutes, {
  'GET /v2/flowControl': async (call) => {
    const { search, cursor } = readQuery(call, ['search', 'cursor']);
    return listAnswer(call, await listFlowControl(call.caller.account, search, cursor));
  },
  'GET /v2/flowControl/{key}': async (call) =>
    ok(await getFlowControl(call.caller.account, variable(call, 'key'))),
  'POST /v2/flowControl/{key}/pause': async (call) =>
    changed(await pauseFlowControl(call.caller.account, variable(call, 'key'))),
  'POST /v2/flowControl/{key}/resume': async (call) =>
    changed(await resumeFlowControl(call.caller.account, variable(call, 'key'))),
  'POST /v2/flowControl/{key}/pin': async (call) => {
    const pins = readQuery(call, ['parallelism', 'rate', 'period']);
    return changed(await pinFlowControl(call.caller.account, variable(call, 'key'), pins));
  },
  'POST /v2/flowControl/{key}/unpin': async (call) => {
    const pins = readQuery(call, ['parallelism', 'rate']);
    return changed(await unpinFlowControl(call.caller.account, variable(call, 'key'), pins));
  },
  'POST /v2/flowControl/{key}/resetRate': resetRate,
  'POST /v2/flowControl/{key}/reset': resetRate,
  'GET /v2/globalParallelism': async (call) => ok(await getGlobalParallelism(call.caller.account)),
  'GET /v2/circuits': async (call) => {
    const { cursor } = readQuery(call, ['cursor']);
    return listAnswer(call, await listCircuits(call.caller.account, cursor));
  },
  'POST /v2/circuits/{host}/close': async (call) => {
    await closeCircuitOf(call.caller.account, variable(call, 'host'));
    return ok({});
  },
  'GET /v2/holds': async ({ caller }) => ok(await listHolds(caller.account)),
  'POST /v2/hosts/{host}/hold': async (call) =>
    changed(await hold(call.caller, 'host', variable(call, 'host'), call.request.body)),
  'POST /v2/hosts/{host}/release': async (call) =>
    changed(await release(call.caller.account, 'host', variable(call, 'host'))),
  'POST /v2/labels/{label}/hold': async (call) =>
    changed(await hold(call.caller, 'label', variable(call, 'label'), call.request.body)),
  'POST /v2/labels/{label}/release': async (call) =>
    changed(await release(call.caller.account, 'label', variable(call, 'label'))),
  'POST /v2/hold': async ({ caller, request }) => changed(await hold(caller, 'account', '', request.body)),
  'POST /v2/release': async ({ caller }) => changed(await release(caller.account, 'account', '')),
});
