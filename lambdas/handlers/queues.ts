import { changed, ok, type AuthenticatedCall } from '../http/handler.ts';
import { api } from '../http/messagingApi.ts';
import { cursorOf, listAnswer } from '../http/query.ts';
import { nameIn } from '../http/request.ts';
import { queuesRoutes } from '../http/routeTable.ts';
import { cancelDelayed } from '../publish/cancel.ts';
import { deleteQueue, getQueue, listQueues, pauseQueue, putQueue, resumeQueue } from '../lane/queues.ts';

const queueName = (call: AuthenticatedCall): string => nameIn(call, 'name', 'The name of the queue');

export const handler = api('queues', queuesRoutes, {
  'POST /v2/queues': async ({ request, caller }) => changed(await putQueue(caller.account, request.body)),
  'GET /v2/queues': async (call) => listAnswer(call, await listQueues(call.caller.account, cursorOf(call))),
  'GET /v2/queues/{name}': async (call) => ok(await getQueue(call.caller.account, queueName(call))),
  'DELETE /v2/queues/{name}': async (call) => {
    const name = queueName(call);
    const changes = await deleteQueue(call.caller.account, name);
    await cancelDelayed(call.caller.account, name);
    return changed(changes);
  },
  'POST /v2/queues/{name}/pause': async (call) =>
    changed(await pauseQueue(call.caller.account, queueName(call))),
  'POST /v2/queues/{name}/resume': async (call) =>
    changed(await resumeQueue(call.caller.account, queueName(call))),
});
