/** Readiness, for what sends requests to the stage: `GET /v2/ready`. `GET /v2/health` says that it runs. */
import { answerJson, type Guard } from '../http.ts';
import type { Disk } from './disk.ts';

export interface Readiness {
  readonly guard: Guard;
  /** Set while the parts of the stage run. */
  isStarted: boolean;
}

/** @param disk undefined for a stage that keeps nothing */
export function readiness(disk: () => Disk | undefined): Readiness {
  const made: Readiness = {
    isStarted: false,
    guard: (listener) => (request, response) => {
      if (request.url !== '/v2/ready' || request.method !== 'GET') {
        listener(request, response);
        return;
      }
      void (async () => {
        const error = made.isStarted ? await disk()?.trouble() : 'The service starts, or ends.';
        const headers = { 'cache-control': 'no-store' };
        if (error === undefined) answerJson(response, 200, 'application/json', { status: 'ready' }, headers);
        else answerJson(response, 503, 'application/json', { error, code: 'service_failed' }, headers);
      })();
    },
  };
  return made;
}
