import { api } from '../http/api.ts';
import { rawTail } from '../http/request.ts';
import { publish } from '../services/publish.ts';

export const handler = api<'publish'>({
  'POST /v2/publish/{destination+}': async ({ request, canonical, caller }) => ({
    status: 200,
    body: await publish(caller.account, {
      ...canonical,
      destination: rawTail(request.rawPath, request.route),
      body: request.body,
      callerIp: request.callerIp,
      host: request.host,
    }),
  }),
});
