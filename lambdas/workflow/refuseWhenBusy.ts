import { HttpError } from '../error/httpError.ts';
import { RunBusy } from './runs/changeRun.ts';

/**
 * Does something for a request to the API that changes runs.
 *
 * @throws HttpError 503 when other processes changed the run again and again; and the errors of the work itself
 */
export async function refuseWhenBusy<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RunBusy)) throw error;
    throw new HttpError(503, 'busy', 'The run is being changed by many at once; send the request again.');
  }
}
