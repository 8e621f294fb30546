import { HttpError } from '../../error/httpError.ts';
import type { Lane, LaneKey } from '../lane.ts';
import { LaneBusy } from './changeLanes.ts';
import { lanes } from './processLanes.ts';

export interface ChangedLane {
  readonly before: Lane;
  readonly after: Lane;
}

/**
 * @param to may throw an HttpError
 * @throws HttpError from `to`, or 503 after too many conflicts
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
        // Returned, not thrown, because other changes may share the write.
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
