import { api } from '../http/api.ts';
import { firstVariable } from '../http/request.ts';
import { deleteQueue, getQueue, listQueues, putQueue } from '../services/queues.ts';

export const handler = api<'queues'>({
  'POST /v2/queues': async ({ request, caller }) => {
    await putQueue(caller.account, request.body);
    return { status: 200, body: {} };
  },
  'GET /v2/queues': async ({ caller }) => ({ status: 200, body: await listQueues(caller.account) }),
  'GET /v2/queues/{name}': async (call) => ({
    status: 200,
    body: await getQueue(call.caller.account, firstVariable(call)),
  }),
  'DELETE /v2/queues/{name}': async (call) => {
    await deleteQueue(call.caller.account, firstVariable(call));
    return { status: 200, body: {} };
  },
});
