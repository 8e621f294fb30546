/** Fails the runs whose requests are refused. */
import { HttpError } from '../error/httpError.ts';
import type { refusalOfRequest } from '../workflow/refusals.ts';
import type { Call, Middleware } from './handler.ts';

/**
 * Fails the run of a request that was refused, and chooses the status that its endpoint understands. It takes the refusals of
 * the middlewares after the token was verified, too.
 *
 * @param load loads the code for the first such request
 * @param endedBy finds the run that a request ends, in the name of its endpoint
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
      // The answer is that of a failure of the service: the endpoint's delivery is retried.
      request.error = failure instanceof Error ? failure : new Error(String(failure));
    }
  },
});
