import { HttpError } from '../../error/httpError.ts';
import type { Lane, LaneKey } from '../lane.ts';
import { LaneBusy } from './lanes.ts';
import { lanes } from './processLanes.ts';

/** A lane before a change and after it. */
export interface ChangedLane {
  readonly before: Lane;
  readonly after: Lane;
}

/**
 * Changes a lane for a request to the API.
 *
 * @param to may throw an HttpError, and then nothing is changed
 * @throws HttpError the one of `to`; or 503 when others changed the lane again and again
 */
export async function changeOrRefuse(
  key: LaneKey,
  to: (lane: Lane, now: number) => Lane,
): Promise<ChangedLane> {
  try {
    const outcome = await lanes.change<ChangedLane | HttpError>(key, (lane, time) => {
      try {
        const after = to(lane, time);
        return { lane: after, result: { before: lane, after } };
      } catch (error) {
        // Other changes of this process go with the same write.
        if (!(error instanceof HttpError)) throw error;
        return { lane, result: error };
      }
    });
    if (outcome instanceof HttpError) throw outcome;
    return outcome;
  } catch (error) {
    if (!(error instanceof LaneBusy)) throw error;
    throw new HttpError(503, 'busy', 'It is being changed by many at once; send the change again.');
  }
}
