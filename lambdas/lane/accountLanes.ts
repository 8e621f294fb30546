import { limitsOf, type Account } from '../account/account.ts';
import { TransientError } from '../error/transientError.ts';
import { laneKinds } from '../job/job.ts';
import { eachOf } from '../shared/lists.ts';
import { accountLane, withNewestLimits } from './lane.ts';
import { lanes } from './slots/processLanes.ts';
import { laneNames, loadLane, removeLane } from './store/laneRows.ts';

/** Starts the attempts that waited for their account. */
export async function resumeAccount(account: Account): Promise<void> {
  const parallelism = limitsOf(account).max_global_parallelism;
  await lanes.update(accountLane(account.id), (lane) => {
    if (lane.version === 0) return lane;
    const latest = withNewestLimits(lane, { parallelism }, account.version);
    return latest.isPaused ? { ...latest, isPaused: false } : latest;
  });
}

const removedAtOnce = 10;

/** @throws TransientError if another process wrote a lane at the same time; call it again then */
export async function removeLanes(accountId: string): Promise<void> {
  for (const kind of laneKinds) {
    const names: string[] = kind === 'account' ? [''] : [];
    for await (const name of laneNames(accountId, kind)) names.push(name);
    await eachOf(names, removedAtOnce, async (name) => {
      const lane = await loadLane({ accountId, kind, name });
      if (lane !== undefined && !(await removeLane(lane))) {
        throw new TransientError('Another process wrote a lane while it was being removed.');
      }
    });
  }
}
