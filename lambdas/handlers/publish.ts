import { apiWithUrl } from '../http/apiWithUrl.ts';
import { publishRoutes } from '../http/routeTable.ts';
import { ok, type AuthenticatedCall } from '../http/handler.ts';
import { nameIn, variable } from '../http/request.ts';
import { batch } from '../publish/batch.ts';
import type { BatchRequest } from '../publish/batchItems.ts';
import type { PublishRequest } from '../publish/prepare.ts';
import { publish } from '../publish/publish.ts';
import { plugInWorkflows } from '../publish/workflows.ts';

/** The function that refuses messages to which the token may not publish; undefined where it may publish to all. */
async function refusalOf({ caller: { named } }: AuthenticatedCall): Promise<BatchRequest['refuse']> {
  if (named?.destinations === undefined) return undefined;
  const { onlyTo } = await import('../account/namedCaller.ts');
  return onlyTo(named.destinations);
}

async function requestTo(call: AuthenticatedCall, queueName?: string): Promise<PublishRequest> {
  const { request, canonical } = call;
  const asked = {
    ...canonical,
    destination: variable(call, 'destination'),
    queueName,
    body: request.body,
    callerIp: request.callerIp,
    host: request.host,
  };
  (await refusalOf(call))?.(asked);
  return asked;
}

const batchRequest = async (call: AuthenticatedCall): Promise<BatchRequest> => ({
  body: call.request.body,
  prefix: call.canonical.prefix,
  otherHeaders: call.canonical.otherHeaders,
  callerIp: call.request.callerIp,
  host: call.request.host,
  refuse: await refusalOf(call),
});

/** The code that starts runs is imported at the first request for it, so that the cold start of a publish does not wait for it. */
const runs = () => import('../workflow/forPublish.ts');
plugInWorkflows(runs);

export const handler = apiWithUrl<'publish'>(publishRoutes, {
  'POST /v2/publish/{destination+}': async (call) => publish(call.caller.account, await requestTo(call)),
  'POST /v2/enqueue/{queueName}/{destination+}': async (call) => {
    const queueName = nameIn(call, 'queueName', 'The name of the queue');
    return publish(call.caller.account, await requestTo(call, queueName));
  },
  'POST /v2/batch': async (call) => ok(await batch(call.caller.account, await batchRequest(call))),
  'POST /v2/trigger/{destination+}': async (call) => {
    const { refuseWhenBusy, trigger } = await runs();
    const request = await requestTo(call);
    return ok(await refuseWhenBusy(() => trigger(call.caller.account, request)));
  },
  'POST /v2/batch/trigger': async (call) => {
    const { refuseWhenBusy, triggerBatch } = await runs();
    const request = await batchRequest(call);
    return ok(await refuseWhenBusy(() => triggerBatch(call.caller.account, request)));
  },
});
