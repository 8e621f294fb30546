/**
 * The pump of a lane: it admits those for whom there is room. It comes when a rate has room again, when the lease of a process
 * or an attempt ends that may have died, and every few days to a line that is long, so that no message expires in it.
 */
import { now, secondMs } from '../shared/clock.ts';
import { removableAt } from './rules/checks.ts';
import type { PumpJob } from '../job/job.ts';
import { loadLane, removeLane } from './store/lanes.ts';
import { sendJob } from '../job/send.ts';
import { cancelDeletedLines } from './line/cancelDeletedLines.ts';
import { checkHolders } from './line/checkHolders.ts';
import { extendLine } from './line/extendLine.ts';
import { budgetMs } from './line/linePages.ts';
import { lanes } from './slots/ourLanes.ts';
import { waitUntil } from './line/waitUntil.ts';

/** Looks at a lane. @throws when that has to be done again */
export async function pump(work: PumpJob): Promise<void> {
  if (work.dueAt - now() > secondMs) {
    // Scheduler sends two minutes early.
    await sendJob(work, work.dueAt - secondMs);
    return;
  }
  // A moment too early nobody would be admitted, nor another pump be on its way.
  await waitUntil(work.dueAt);
  const key = { accountId: work.accountId, kind: work.lane, name: work.name };
  // A change of nothing: whoever has room is admitted.
  const lane = await lanes.change(key, (found) => ({ lane: found, result: found }));
  const until = now() + budgetMs;
  // Also where somebody has made the queue anew meanwhile.
  if (lane.deletedLines.length > 0 && !(await cancelDeletedLines(lane, until))) {
    await sendJob({ ...work, dueAt: now() }, now());
    return;
  }
  if (lane.isDeleted) {
    // Should somebody make the queue anew at this moment, it stays. Where one was deleted again, another pump is on its way.
    const left = await loadLane(key);
    const isEmptied = left?.isDeleted === true && left.deletedLines.length === 0;
    if (isEmptied && now() >= removableAt(left)) await removeLane(left);
  }
  if (work.keepsFrom === undefined) return;
  if (work.keepsFrom === 0 && lane.kind === 'queue') await checkHolders(lane);
  const keepsFrom = await extendLine(lane, work.keepsFrom, until);
  if (keepsFrom !== undefined) await sendJob({ ...work, dueAt: now(), keepsFrom }, now());
}
