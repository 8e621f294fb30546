import { parseFilter, type Filter } from '../wire/filters.ts';
import { idsInBody } from '../wire/idBodies.ts';
import { valuesOf } from '../shared/headers.ts';
import { badField, quote } from '../error/httpError.ts';
import { ok, type AuthenticatedCall, type Endpoints } from '../http/handler.ts';
import { api } from '../http/messagingApi.ts';
import { inBackground } from '../http/middlewares.ts';
import { variable } from '../http/request.ts';
import { dlqRoutes } from '../http/routeTable.ts';
import {
  countDeadLetters,
  deleteDeadLetters,
  deleteDeadLetter,
  getDeadLetter,
  listDeadLetters,
} from '../deadLetter/deadLetters.ts';
import { retryDeadLetter, retryDeadLetters, type RetryRequest } from '../publish/retryDeadLetters.ts';
import { listRunDeadLetters } from '../workflow/deadLetters.ts';

const bulkFilter = ({ request, canonical }: AuthenticatedCall): Filter =>
  parseFilter('dlq', [...canonical.otherQuery, ...idsInBody('dlq', request.body)]);

const retryRequest = ({ request, canonical }: AuthenticatedCall): RetryRequest => ({
  ...canonical,
  host: request.host,
});

/** With `source=workflow`, workflow clients list the dead letters of runs here instead of those of messages. */
function list({ canonical, caller }: AuthenticatedCall): Promise<unknown> {
  const query = canonical.otherQuery.filter(([name]) => name !== 'source');
  const source = valuesOf(canonical.otherQuery, 'source');
  if (source.length === 0) return listDeadLetters(caller.account, parseFilter('listedDlq', query));
  if (source.some((one) => one !== 'workflow')) {
    throw badField(
      `source is ${quote(source.join(', '))}; allowed is workflow, for the dead letters of runs.`,
    );
  }
  return listRunDeadLetters(caller.account, query);
}

const endpoints: Endpoints<'dlq'> = {
  'GET /v2/dlq': async (call) => ok(await list(call)),
  'GET /v2/dlq/count': async ({ canonical, caller }) =>
    ok(await countDeadLetters(caller.account, parseFilter('dlq', canonical.otherQuery, 'uncounted'))),
  'DELETE /v2/dlq': async (call) => ok(await deleteDeadLetters(call.caller.account, bulkFilter(call))),
  'POST /v2/dlq/retry': async (call) => ({
    status: 201,
    body: await retryDeadLetters(call.caller.account, bulkFilter(call), retryRequest(call)),
  }),
  'POST /v2/dlq/retry/{dlqId}': async (call) => ({
    status: 201,
    body: await retryDeadLetter(call.caller.account, variable(call, 'dlqId'), retryRequest(call)),
  }),
  'GET /v2/dlq/{dlqId}': async (call) =>
    ok(await getDeadLetter(call.caller.account, variable(call, 'dlqId'))),
  'DELETE /v2/dlq/{dlqId}': async (call) => {
    await deleteDeadLetter(call.caller.account, variable(call, 'dlqId'));
    return ok({ deleted: 1 });
  },
};

export const handler = api('dlq', dlqRoutes, endpoints, [inBackground]);
