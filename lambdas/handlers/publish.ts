import { apiWithUrl } from '../http/apiWithUrl.ts';
import { submissions } from '../http/middlewares.ts';
import { publishRoutes } from '../http/routeTable.ts';
import { ok, type AuthenticatedCall, type Endpoints } from '../http/handler.ts';
import { nameIn, variable } from '../http/request.ts';
import type { BatchRequest } from '../publish/batchItems.ts';
import type { PublishRequest } from '../publish/prepare.ts';
import { publish } from '../publish/publish.ts';
import { plugInWorkflows } from '../publish/workflows.ts';

function requestTo(call: AuthenticatedCall, queueName?: string): PublishRequest {
  const { request, canonical } = call;
  return {
    ...canonical,
    destination: variable(call, 'destination'),
    queueName,
    body: request.body,
    callerIp: request.callerIp,
    host: request.host,
  };
}

const batchRequest = ({ request, canonical }: AuthenticatedCall): BatchRequest => ({
  body: request.body,
  prefix: canonical.prefix,
  otherHeaders: canonical.otherHeaders,
  callerIp: request.callerIp,
  host: request.host,
});

/** The code that starts runs is loaded when needed, so that it does not delay a publish's cold start. */
const runs = () => import('../workflow/forPublish.ts');
plugInWorkflows(runs);

const endpoints: Endpoints<'publish'> = {
  'POST /v2/publish/{destination+}': async (call) => publish(call.caller.account, requestTo(call)),
  'POST /v2/enqueue/{queueName}/{destination+}': async (call) => {
    const queueName = nameIn(call, 'queueName', 'The name of the queue');
    return publish(call.caller.account, requestTo(call, queueName));
  },
  'POST /v2/batch': async (call) => {
    // Loaded when needed, so that it does not delay a publish's cold start.
    const { batch } = await import('../publish/batch.ts');
    return ok(await batch(call.caller.account, batchRequest(call), call.remainingMs));
  },
  'POST /v2/trigger/{destination+}': async (call) => {
    const { refuseWhenBusy, trigger } = await runs();
    const request = requestTo(call);
    return ok(await refuseWhenBusy(() => trigger(call.caller.account, request)));
  },
  'POST /v2/batch/trigger': async (call) => {
    const { refuseWhenBusy, triggerBatch } = await runs();
    const request = batchRequest(call);
    return ok(await refuseWhenBusy(() => triggerBatch(call.caller.account, request)));
  },
};

export const handler = apiWithUrl('publish', publishRoutes, endpoints, [submissions(runs)]);
