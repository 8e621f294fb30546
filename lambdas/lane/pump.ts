/**
 * A pump grants slots to the attempts that wait in a lane. It runs when the rate allows another start, and
 * when a lease ends whose holder may have died. A long line's pump also extends the lifetimes of its
 * messages.
 */
import { now, secondMs } from '../shared/clock.ts';
import { waitUntil } from '../shared/pause.ts';
import type { PumpJob } from '../job/job.ts';
import { isEarly, sendJob } from '../job/send.ts';
import { hasDeletedLines } from './lane.ts';
import { lanes } from './slots/processLanes.ts';

/** The time for all of a lane's lines. The function times out after 60 s. */
const budgetMs = 30 * secondMs;

/** @throws if the pump must be retried */
export async function pump(job: PumpJob): Promise<void> {
  const isTooEarly = job.dueAt - now() > secondMs;
  if (job.keepsFrom !== undefined && isTooEarly && isEarly(job.dueAt)) {
    await sendJob(job, job.dueAt - secondMs);
    return;
  }
  // The job may arrive early, because the clock may have stepped back since it was sent.
  if (!isTooEarly) await waitUntil(job.dueAt);
  const key = { accountId: job.accountId, kind: job.lane, name: job.name };
  // Each change of a lane also grants free slots, so an empty change is enough. It removes `pumpAt`, so that
  // the lane schedules its next pump.
  const lane = await lanes.change(key, (found) => ({
    lane: isTooEarly ? { ...found, pumpAt: 0 } : found,
    result: found,
  }));
  const until = now() + budgetMs;
  // A deleted queue's messages are cancelled even if it was created again. This is rare, so the code is
  // loaded on demand.
  const isCancelled = async (): Promise<boolean> =>
    (await import('./line/cancelDeletedLines.ts')).cancelDeletedLines(lane, until);
  if (hasDeletedLines(lane) && !(await isCancelled())) {
    await sendJob({ ...job, dueAt: now() }, now());
    return;
  }
  if (job.keepsFrom === undefined) return;
  const [{ checkHolders }, { extendLine }] = await Promise.all([
    import('./line/checkHolders.ts'),
    import('./line/extendLine.ts'),
  ]);
  if (job.keepsFrom === 0 && lane.kind === 'queue') await checkHolders(lane);
  const { keepsFrom, keepsFairFrom } = job;
  const left = await extendLine(lane, { keepsFrom, keepsFairFrom }, until);
  if (left !== undefined) await sendJob({ ...job, ...left, dueAt: now() }, now());
}
