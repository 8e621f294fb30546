/**
 * Readiness: `/v2/ready` answers 200 while the stage accepts messages. `/v2/health` answers 200 once the
 * stage has started and the file `env` is written.
 */
import type { ErrorCode } from '../../lambdas/error/errorCodes.ts';
import { splitUrl } from '../incoming.ts';
import { answerJson, type Guard } from '../http.ts';
import type { Disk } from './disk.ts';

interface Readiness {
  readonly guard: Guard;
  state: 'starting' | 'started' | 'ending';
}

export const pausedSentence =
  'The service is paused: it can be read, but changes and delivers nothing, until it is started without --paused.';

const pausedCode: ErrorCode = 'service_paused';

/** Requests to these paths notify runs, with any method. */
const webhook = /\/workflows\/+hooks\//i;

export function readiness(disk: () => Disk | undefined, isPaused: boolean): Readiness {
  const made: Readiness = {
    state: 'starting',
    guard: (listener) => (request, response) => {
      const { path } = splitUrl(request.url ?? '/');
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      const isAnswered = path === '/v2/ready' || (path === '/v2/health' && made.state === 'starting');
      const headers = { 'cache-control': 'no-store' };
      if (isPaused && (!isRead || webhook.test(path) || (path === '/v2/ready' && made.state === 'started'))) {
        request.resume();
        answerJson(response, 503, 'application/json', { error: pausedSentence, code: pausedCode }, headers);
        return;
      }
      if (!isRead || !isAnswered) {
        listener(request, response);
        return;
      }
      void (async () => {
        const error = made.state === 'started' ? await disk()?.trouble() : `The service is ${made.state}.`;
        if (error === undefined) answerJson(response, 200, 'application/json', { status: 'ready' }, headers);
        else answerJson(response, 503, 'application/json', { error, code: 'service_failed' }, headers);
      })();
    },
  };
  return made;
}
