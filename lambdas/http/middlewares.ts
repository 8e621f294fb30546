import { startBulk } from '../bulk/bulks.ts';
import { badField, HttpError, quote } from '../error/httpError.ts';
import { valuesOf } from '../shared/headers.ts';
import type { refusalOfRequest } from '../workflow/refusedRequests.ts';
import type { Call, Middleware } from './handler.ts';
import { refuseBody } from './request.ts';
import { bulkOperationOf } from './route.ts';

/**
 * Fails the run of a refused request, and answers with a status that its endpoint understands. Covers
 * refusals by middlewares that run after the token is verified.
 *
 * @param load loads the code for the first such request
 * @param endedBy finds the run that its endpoint ends with the request
 */
export const submissions = (
  load: () => Promise<{ readonly refusalOfRequest: typeof refusalOfRequest }>,
  endedBy: (call: Call) => string | undefined = () => undefined,
): Middleware => ({
  onError: async (request) => {
    const { caller, call } = request.context;
    const { error } = request;
    if (!(error instanceof HttpError) || caller === undefined || call === undefined) return;
    const { config } = call.canonical;
    const isBatch = call.route.path === '/v2/batch';
    try {
      const ends = endedBy(call);
      if (!isBatch && ends === undefined && !config.has('workflow-init')) return;
      const { body, host } = call.request;
      const refused = { config, body, host, isBatch, ends };
      request.error = await (await load()).refusalOfRequest(caller, refused, error);
    } catch (failure) {
      // The answer is then a 5xx status, so that the endpoint's delivery is retried.
      request.error = failure instanceof Error ? failure : new Error(String(failure));
    }
  },
});

/** With `background=true`, a request only starts its operation. */
export const inBackground: Middleware = {
  before: async ({ context }) => {
    const { call, caller } = context;
    const operation = call && bulkOperationOf(call.route);
    if (call === undefined || caller === undefined || operation === undefined) return;
    const { prefix, config, otherQuery } = call.canonical;
    const given = valuesOf(otherQuery, 'background');
    if (given.length === 0) return;
    const other = given.find((one) => one !== 'true');
    if (other !== undefined) throw badField(`background is ${quote(other)}; allowed is true.`);
    refuseBody(call, 'with background=true the filters are in the query');
    const { filtersOf } = await import('./auditing.ts');
    const query = otherQuery.filter(([name]) => name !== 'background');
    const request = { query, filters: filtersOf(query), prefix, config, host: call.request.host };
    context.instead = async () => ({
      status: 202,
      body: await startBulk(caller.account, operation, request),
    });
  },
};
