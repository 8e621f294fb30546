import { limitsOf, type Account } from '../account/account.ts';
import { withNewestLimits } from './lane.ts';
import { lanes } from './slots/ourLanes.ts';
import { accountLane } from './slots/acquire.ts';

/** Admits what waits for an account that is served, as far as its limits allow now. */
export async function resumeAccount(account: Account): Promise<void> {
  const parallelism = limitsOf(account).max_global_parallelism;
  await lanes.update(accountLane(account.id), (lane) => {
    // Nothing waits in a lane that is not there.
    if (lane.version === 0) return lane;
    const latest = withNewestLimits(lane, { parallelism }, account.version);
    return latest.isPaused ? { ...latest, isPaused: false } : latest;
  });
}
