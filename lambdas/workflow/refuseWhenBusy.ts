import { HttpError } from '../error/httpError.ts';
import { RunBusy } from './runs/changeRun.ts';

/**
 * Does something for a request to the API that changes runs.
 *
 * @throws HttpError 503 when others changed a run again and again, besides what it throws itself
 */
export async function refuseWhenBusy<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RunBusy)) throw error;
    throw new HttpError(503, 'busy', 'The run is being changed by many at once; send the request again.');
  }
}
