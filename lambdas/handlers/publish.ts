import { api } from '../http/api.ts';
import type { AuthenticatedCall } from '../http/handler.ts';
import { firstVariable, rawTail } from '../http/request.ts';
import { parseName } from '../domain/names.ts';
import { batch } from '../services/batch.ts';
import { publish } from '../services/publish.ts';

const publishTo = (
  { request, canonical, caller }: AuthenticatedCall,
  destination: string,
  queueName?: string,
): ReturnType<typeof publish> =>
  publish(caller.account, {
    ...canonical,
    destination,
    queueName,
    body: request.body,
    callerIp: request.callerIp,
    host: request.host,
  });

export const handler = api<'publish'>({
  'POST /v2/publish/{destination+}': (call) => publishTo(call, rawTail(call)),
  'POST /v2/enqueue/{queueName}/{destination+}': (call) => {
    const queueName = parseName('The name of the queue', firstVariable(call));
    return publishTo(call, rawTail(call).replace(/^[^/]*\//, ''), queueName);
  },
  'POST /v2/batch': async ({ request, canonical, caller }) => ({
    status: 200,
    body: await batch(caller.account, {
      body: request.body,
      prefix: canonical.prefix,
      callerIp: request.callerIp,
      host: request.host,
    }),
  }),
});
