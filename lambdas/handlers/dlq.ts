import { idsInBody, parseFilter, type Filter } from '../domain/filters.ts';
import { api } from '../http/api.ts';
import type { AuthenticatedCall } from '../http/handler.ts';
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
  'POST /v2/dlq/retry/{dlqId}': async (call) => ({
    status: 201,
    body: await retryDlqEntry(call.caller.account, firstVariable(call), {
      ...call.canonical,
      host: call.request.host,
    }),
  }),
  'GET /v2/dlq/{dlqId}': async (call) => ({
    status: 200,
    body: await getDlqEntry(call.caller.account, firstVariable(call)),
  }),
  'DELETE /v2/dlq/{dlqId}': async (call) => {
    await deleteDlqEntry(call.caller.account, firstVariable(call));
    return { status: 200, body: { deleted: 1 } };
  },
});
