import { HttpError } from '../../error/httpError.ts';
import type { Lane, LaneKey } from '../lane.ts';
import { LaneBusy } from './lanes.ts';
import { lanes } from './processLanes.ts';

/**
 * Changes a lane for a request to the API.
 *
 * @param to may throw an HttpError, and then nothing is changed
 * @throws HttpError the one of `to`; or 503 when others changed the lane again and again
 */
export async function changeOrRefuse(key: LaneKey, to: (lane: Lane, now: number) => Lane): Promise<void> {
  try {
    const refusal = await lanes.change(key, (lane, time) => {
      try {
        return { lane: to(lane, time), result: undefined };
      } catch (error) {
        // Other changes of this process go with the same write.
        if (!(error instanceof HttpError)) throw error;
        return { lane, result: error };
      }
    });
    if (refusal !== undefined) throw refusal;
  } catch (error) {
    if (!(error instanceof LaneBusy)) throw error;
    throw new HttpError(503, 'busy', 'It is being changed by many at once; send the change again.');
  }
}
