/** A look at a wait: at its deadline, to end it without its event; or after it was woken, to finish what others began. */
import type { Account } from '../../account/account.ts';
import { now } from '../../shared/clock.ts';
import { isWaiting } from '../rules/events.ts';
import type { Snapshot, RunStart, StepsRecord, WaitRecord } from '../rules/journal.ts';
import { hasEnded } from '../run.ts';
import type { WaitTimeoutJob } from '../../job/job.ts';
import { loadSnapshot, loadRecord, type RunKey } from '../store/journals.ts';
import { hasWaiter, removeWaiters } from '../store/waiters.ts';
import { sendJob } from '../../job/send.ts';
import { ownerOf } from '../../account/owner.ts';
import { countFollowing } from '../../usage/counter.ts';
import { changeRun, type Decision } from '../runs/changeRun.ts';
import { followEnds, resultOf, waiterOf, withdrawTimeout, type Place, type WaitResult } from './endWait.ts';
import { settingsOfRun } from '../runs/settings.ts';
import { findRecord } from '../runs/follow.ts';
import { isStepsOf } from '../steps/submit.ts';

/**
 * Looks at a wait.
 *
 * @throws when that has to be done again
 */
export async function checkWait(work: WaitTimeoutJob): Promise<void> {
  const { accountId, runId, seq, dueAt } = work;
  if (now() < dueAt) {
    // Scheduler sends two minutes early.
    await sendJob(work, dueAt);
    return;
  }
  const key: RunKey = { accountId, runId };
  const [wait, head] = await Promise.all([loadRecord(key, seq), loadSnapshot(key)]);
  if (wait?.kind !== 'wait' || head === undefined) return;
  const account = await ownerOf({ accountId, messageId: wait.messageId });
  if (account === undefined) return;
  const place = { seq, wait };
  const isDue = now() >= wait.deadline;
  if (!isWaiting(head, seq)) await finish(account, key, head, place);
  else if (isDue) await timeOut(account, key, await settingsOfRun(key, head), place);
}

/** Ends a wait without its event, unless the event comes first. */
async function timeOut(account: Account, key: RunKey, start: RunStart, place: Place): Promise<void> {
  const { seq, wait } = place;
  let result: WaitResult | undefined;
  const { head, record } = await changeRun(key, async (current): Promise<Decision<undefined>> => {
    if (!isWaiting(current, seq)) return { result: undefined };
    result ??= await resultOf(account, key, current, start, wait, undefined);
    const { entry, keptUntil } = result;
    // However long the list is: the run would wait for ever, and this is a small entry.
    return { record: { kind: 'steps', at: now(), entries: [entry] }, keptUntil, result: undefined };
  });
  if (head === undefined) return;
  if (record?.kind !== 'steps') {
    await finish(account, key, head, place);
    return;
  }
  await countFollowing(account, 1);
  await followEnds(account, [{ key, head, record, places: [place] }], false);
}

/**
 * Does what follows the end of a wait where whoever ended it has not come so far: its row is removed last. What Scheduler keeps
 * for it is taken back here, and not by a request that others wait for.
 */
async function finish(account: Account, key: RunKey, head: Snapshot, place: Place): Promise<void> {
  const { seq, wait } = place;
  const waiter = waiterOf(key, seq, wait);
  // Another run of the same id has its own waits.
  if (hasEnded(head.state) || seq < head.startSeq) await removeWaiters([waiter]);
  else if (await hasWaiter(waiter)) {
    const record = await recordOfEnd(key, head, wait);
    await followEnds(account, [{ key, head, record, places: [place] }], true);
  }
  await withdrawTimeout(key, place);
}

/** Finds the record that ended a wait. */
export const recordOfEnd = (key: RunKey, head: Snapshot, { step }: WaitRecord): Promise<StepsRecord> =>
  findRecord(key, head, isStepsOf({ kind: 'result', stepId: step.stepId }));
