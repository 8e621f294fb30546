/**
 * The pump of a lane: it grants slots to those in the line for whom there is capacity. It comes when a rate allows a start
 * again, when the lease of a process or an attempt ends that may have died, and every few days to a line that is long, so that
 * no message expires in it.
 */
import { now, secondMs } from '../shared/clock.ts';
import { waitUntil } from '../shared/pause.ts';
import type { PumpJob } from '../job/job.ts';
import { sendJob } from '../job/send.ts';
import { hasDeletedLines } from './lane.ts';
import { lanes } from './slots/processLanes.ts';

/** A pump works for this long on all its lines; its function ends after 60 s. */
const budgetMs = 30 * secondMs;

/** @throws when the pump has to come again */
export async function pump(job: PumpJob): Promise<void> {
  if (job.dueAt - now() > secondMs) {
    // Scheduler sends two minutes early.
    await sendJob(job, job.dueAt - secondMs);
    return;
  }
  // A moment too early nobody would get a slot, and no other pump would be on its way.
  await waitUntil(job.dueAt);
  const key = { accountId: job.accountId, kind: job.lane, name: job.name };
  // A change of nothing grants slots to those for whom there is capacity.
  const lane = await lanes.change(key, (found) => ({ lane: found, result: found }));
  const until = now() + budgetMs;
  // Lines of a deleted queue are cancelled also where the queue was made again meanwhile.
  // Long work is rare, and its code is loaded for it.
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
