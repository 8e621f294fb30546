import { laneKinds } from '../job/job.ts';
import { eachOf } from '../shared/lists.ts';
import { TransientError } from '../error/transientError.ts';
import { laneNames, loadLane, removeLane } from './store/lanes.ts';

const removedAtOnce = 10;

/**
 * Removes all lanes of an account.
 *
 * @throws TransientError when one was written meanwhile: it has to be done again
 */
export async function removeLanes(accountId: string): Promise<void> {
  for (const kind of laneKinds) {
    const names: string[] = kind === 'account' ? [''] : [];
    for await (const name of laneNames(accountId, kind)) names.push(name);
    await eachOf(names, removedAtOnce, async (name) => {
      const lane = await loadLane({ accountId, kind, name });
      if (lane !== undefined && !(await removeLane(lane))) {
        throw new TransientError('A lane was written by another while it was to be removed.');
      }
    });
  }
}
