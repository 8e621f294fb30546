/**
 * Gives up jobs of runs that fail repeatedly inside the service, or that kill their workers. Their runs fail,
 * instead of waiting forever.
 */
import type { Account } from '../../account/account.ts';
import { log } from '../../aws/log.ts';
import { isFault } from '../../job/fault.ts';
import type { RunEndJob, RunRefusedJob, RunStartJob, WaitTimeoutJob } from '../../job/job.ts';
import type { GiveUpReason } from '../../job/redelivery.ts';
import type { Invoker } from '../rules/invoking.ts';
import { isActive, type RunKey } from '../rules/journal.ts';
import { settingsOfRun } from '../runs/changeRun.ts';
import { isUnfinished } from '../steps/checkStart.ts';
import { endOfRun } from '../steps/end.ts';
import { tellFailure } from '../steps/tellInvoker.ts';
import { loadSnapshot } from '../store/journals.ts';
import { isStuck } from '../waits/checkWait.ts';
import { errorField, failGivenUp, sayGivenUp } from './otherFailures.ts';

/** A run whose records cannot be read cannot continue either. */
async function isOrUnreadable(check: () => Promise<boolean>): Promise<boolean> {
  try {
    return await check();
  } catch (error) {
    if (!isFault(error)) throw error;
    return true;
  }
}

/**
 * Gives up the start of a run. A run that was not delivered fails. Otherwise it would be active forever.
 *
 * @throws if it must be retried
 */
export async function giveUpStart(job: RunStartJob, why: GiveUpReason): Promise<void> {
  const { accountId, runId } = job;
  const key: RunKey = { accountId, runId };
  const snapshot = await loadSnapshot(key);
  if (!isActive(snapshot) || !(await isOrUnreadable(() => isUnfinished(job)))) return;
  await failGivenUp(key, snapshot.startSeq, why, 'the start of the run');
}

/**
 * Gives up the work after a run's end. The run that waits for this one gets a failure, or fails itself.
 *
 * @throws if it must be retried
 */
export async function giveUpRunEnd(
  account: Account,
  { runId, startSeq }: Pick<RunEndJob, 'runId' | 'startSeq'>,
  why: GiveUpReason,
): Promise<void> {
  const key: RunKey = { accountId: account.id, runId };
  const end = await endOfRun(key, startSeq);
  const invoker = end && (await settingsOfRun(key, end.snapshot)).invoker;
  if (invoker === undefined) return;
  const what = `the end of the invoked run ${runId}`;
  try {
    await tellFailure(account, invoker, sayGivenUp(why, what));
  } catch (error) {
    if (!isFault(error)) throw error;
    log.error('A run cannot be told of the end of another', { runId: invoker.runId, ...errorField(error) });
    await failInvoker(account, invoker, why, what);
  }
}

async function failInvoker(
  account: Account,
  { runId, createdAt }: Invoker,
  why: GiveUpReason,
  what: string,
): Promise<void> {
  const key: RunKey = { accountId: account.id, runId };
  const snapshot = await loadSnapshot(key);
  if (snapshot?.createdAt === createdAt) await failGivenUp(key, snapshot.startSeq, why, what);
}

/**
 * Gives up a wait's timeout. The run fails if it would wait forever.
 *
 * @throws if it must be retried
 */
export async function giveUpWait(
  { accountId, runId, seq }: WaitTimeoutJob,
  why: GiveUpReason,
): Promise<void> {
  const key: RunKey = { accountId, runId };
  const snapshot = await loadSnapshot(key);
  if (!isActive(snapshot) || seq < snapshot.startSeq) return;
  if (await isOrUnreadable(() => isStuck(key, snapshot, seq)))
    await failGivenUp(key, snapshot.startSeq, why, `the wait ${seq} of the run`);
  else log.error('A check of a wait is given up; its run goes on without it', { runId, seq });
}

/** @throws if it must be retried */
export const giveUpRefused = (
  { accountId, runId, startSeq }: RunRefusedJob,
  why: GiveUpReason,
): Promise<void> =>
  failGivenUp({ accountId, runId }, startSeq, why, 'the failure of the run by a refused step');
