import { ok } from '../http/handler.ts';
import { cursorOf, listAnswer } from '../http/lists.ts';
import { api } from '../http/messagingApi.ts';
import { variable } from '../http/request.ts';
import { queuesRoutes } from '../http/routeTable.ts';
import {
  deleteQueue,
  getQueue,
  listQueues,
  pauseQueue,
  putQueue,
  resumeQueue,
} from '../services/lane/queues.ts';

export const handler = api<'queues'>(queuesRoutes, {
  'POST /v2/queues': async ({ request, caller }) => {
    await putQueue(caller.account, request.body);
    return ok({});
  },
  'GET /v2/queues': async (call) => listAnswer(call, await listQueues(call.caller.account, cursorOf(call))),
  'GET /v2/queues/{name}': async (call) => ok(await getQueue(call.caller.account, variable(call, 'name'))),
  'DELETE /v2/queues/{name}': async (call) => {
    await deleteQueue(call.caller.account, variable(call, 'name'));
    return ok({});
  },
  'POST /v2/queues/{name}/pause': async (call) => {
    await pauseQueue(call.caller.account, variable(call, 'name'));
    return ok({});
  },
  'POST /v2/queues/{name}/resume': async (call) => {
    await resumeQueue(call.caller.account, variable(call, 'name'));
    return ok({});
  },
});
