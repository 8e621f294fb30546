/**
 * Checks a wait: at its deadline, to end it with a timeout; or after it was ended, to finish the work of a
 * process that may have died.
 */
import type { Account } from '../../account/account.ts';
import { storedMessages } from '../../message/list.ts';
import { now } from '../../shared/clock.ts';
import { isWaiting } from '../rules/events.ts';
import { isActive, type Snapshot, type RunStart, type RunKey } from '../rules/journal.ts';
import type { WaitTimeoutJob } from '../../job/job.ts';
import { loadSnapshot, loadRecord } from '../store/journals.ts';
import { hasWaiter, removeWaiters } from '../store/waiters.ts';
import { isEarly, sendJob } from '../../job/send.ts';
import { ownerOf } from '../../account/owner.ts';
import { countFollowing } from '../../usage/counter.ts';
import { changeRun, settingsOfRun } from '../runs/changeRun.ts';
import {
  followEnds,
  resultOf,
  waiterOf,
  withdrawTimeout,
  type PlacedWait,
  type WaitResult,
  loadWait,
} from './endWait.ts';
import { findResult } from '../runs/follow.ts';

/** @throws if the job must be retried */
export async function checkWait(job: WaitTimeoutJob): Promise<void> {
  const { accountId, runId, seq, dueAt } = job;
  if (isEarly(dueAt)) {
    // Scheduler delivers two minutes early.
    await sendJob(job, dueAt);
    return;
  }
  const key: RunKey = { accountId, runId };
  const [wait, snapshot] = await Promise.all([loadRecord(key, seq), loadSnapshot(key)]);
  if (wait?.kind !== 'wait' || snapshot === undefined) return;
  const account = await ownerOf({ accountId, messageId: wait.messageId });
  if (account === undefined) return;
  const place = { seq, wait };
  const isDue = Math.max(now(), dueAt) >= wait.deadline;
  if (!isWaiting(snapshot, seq)) await finish(account, key, snapshot, place);
  else if (isDue) await timeOut(account, key, await settingsOfRun(key, snapshot), place);
}

async function timeOut(account: Account, key: RunKey, start: RunStart, place: PlacedWait): Promise<void> {
  const { seq, wait } = place;
  let result: WaitResult | undefined;
  const { snapshot, record } = await changeRun(key, async (current) => {
    if (!isWaiting(current, seq)) return undefined;
    result ??= await resultOf(account, key, current, start, wait, undefined);
    const { entry, keptUntil } = result;
    // Recorded even if the list is full, because it is small and the run would wait forever without it.
    return { record: { kind: 'steps', at: now(), entries: [entry] }, keptUntil };
  });
  if (snapshot === undefined) return;
  if (record?.kind !== 'steps') {
    await finish(account, key, snapshot, place);
    return;
  }
  await countFollowing(account, 1);
  await followEnds(account, [{ key, snapshot, record, places: [place] }], false);
}

/**
 * Does the work that follows the end of a wait, if it is not done. The wait's row is removed last. The
 * schedule of its timeout is deleted here, so that no API request has to wait for that.
 */
async function finish(account: Account, key: RunKey, snapshot: Snapshot, place: PlacedWait): Promise<void> {
  const { seq, wait } = place;
  const waiter = waiterOf(key, seq, wait);
  // Another run of the same id has its own waits.
  if (!isActive(snapshot) || seq < snapshot.startSeq) await removeWaiters([waiter]);
  else if (await hasWaiter(waiter)) {
    const record = await findResult(key, snapshot, wait.step.stepId);
    await followEnds(account, [{ key, snapshot, record, places: [place] }], true);
  }
  await withdrawTimeout(key, place);
}

/** Whether a run would wait forever without this job: the wait is overdue, or its result was never sent. */
export async function isStuck(key: RunKey, snapshot: Snapshot, seq: number): Promise<boolean> {
  const wait = await loadWait(key, seq);
  // Before the deadline, another job is scheduled.
  if (isWaiting(snapshot, seq)) return now() >= wait.deadline;
  const { stepId } = wait.step;
  const { entries } = await findResult(key, snapshot, stepId);
  const results = entries.filter(({ step }) => step?.stepId === stepId);
  const sent = await storedMessages(
    results.map(({ messageId }) => ({ accountId: key.accountId, messageId })),
  );
  return results.some(({ messageId }) => !sent.has(messageId));
}
