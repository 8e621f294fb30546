import { HttpError } from '../error/httpError.ts';
import type { refusalOfRequest } from '../workflow/refusedRequests.ts';
import type { Call, Middleware } from './handler.ts';

/**
 * Fails the run of a refused request, and answers with a status that its endpoint understands. Also for refusals by middlewares
 * that run after the token is verified.
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
      // Answers with a 5xx status, so that the endpoint's delivery is retried.
      request.error = failure instanceof Error ? failure : new Error(String(failure));
    }
  },
});
