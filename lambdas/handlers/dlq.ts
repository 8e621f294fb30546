import { idsInBody, parseFilter, type Filter } from '../domain/filters.ts';
import { api, type AuthenticatedCall } from '../http/api.ts';
import { firstVariable } from '../http/request.ts';
import {
  deleteDlqEntries,
  deleteDlqEntry,
  getDlqEntry,
  listDlq,
  retryDlqEntries,
  retryDlqEntry,
} from '../services/dlq.ts';

const bulkFilter = ({ request, canonical }: AuthenticatedCall): Filter =>
  parseFilter('dlq', [...canonical.otherQuery, ...idsInBody('dlq', request.body)]);

export const handler = api<'dlq'>({
  'GET /v2/dlq': async ({ canonical, caller }) => ({
    status: 200,
    body: await listDlq(caller.account, parseFilter('dlq', canonical.otherQuery)),
  }),
  'DELETE /v2/dlq': async (call) => ({
    status: 200,
    body: await deleteDlqEntries(call.caller.account, bulkFilter(call)),
  }),
  'POST /v2/dlq/retry': async (call) => ({
    status: 201,
    body: await retryDlqEntries(call.caller.account, bulkFilter(call), {
      ...call.canonical,
      host: call.request.host,
    }),
  }),
  'POST /v2/dlq/retry/{dlqId}': async ({ request, canonical, caller }) => ({
    status: 201,
    body: await retryDlqEntry(caller.account, firstVariable(request), { ...canonical, host: request.host }),
  }),
  'GET /v2/dlq/{dlqId}': async ({ request, caller }) => ({
    status: 200,
    body: await getDlqEntry(caller.account, firstVariable(request)),
  }),
  'DELETE /v2/dlq/{dlqId}': async ({ request, caller }) => {
    await deleteDlqEntry(caller.account, firstVariable(request));
    return { status: 200, body: { deleted: 1 } };
  },
});
