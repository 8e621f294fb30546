/** Finishes a start whose process has died. */
import type { Account } from '../../account/account.ts';
import { now } from '../../shared/clock.ts';
import { TransientError } from '../../error/transientError.ts';
import type { RunStartJob } from '../../job/job.ts';
import { loadDeadLetter } from '../../deadLetter/rows.ts';
import { chosenRun, claimRun } from '../store/deadRuns.ts';
import { storedMessages } from '../../message/list.ts';
import { listRun } from '../store/runList.ts';
import { sendJob } from '../../job/send.ts';
import { isOfRun } from '../../deadLetter/deadLetters.ts';
import { removeDeadLetters } from '../../deadLetter/size.ts';
import { ownerOf } from '../../account/owner.ts';
import { begunBefore, rerunTimeoutMs } from '../runs/copyRun.ts';
import { followStarts, listedRun, type Begun, listMessage, checkAfterMs } from '../runs/follow.ts';
import { begunWith } from '../runs/loadRun.ts';

/** @throws if the job must be retried */
export async function checkStart(job: RunStartJob): Promise<void> {
  const account = await ownerOf(job);
  if (account === undefined) return;
  if (job.dlqId !== undefined) {
    await checkRerun(account, job, job.dlqId);
    return;
  }
  // The messages of a start are stored last. If this one is stored, the start is finished, as almost all are.
  if ((await storedMessages([job])).size > 0) return;
  const begun = await begunWith(job);
  if (begun !== undefined) await finish(account, begun, job);
}

async function checkRerun(account: Account, job: RunStartJob, dlqId: string): Promise<void> {
  const { runId } = job;
  if ((await chosenRun(account.id, dlqId)) !== runId) return;
  const time = now();
  const claim = await claimRun(account.id, dlqId, { now: time, endedBy: time - rerunTimeoutMs });
  if (claim.state === 'theirs') throw new TransientError(`Another process starts the run ${runId}.`);
  if (claim.state !== 'ours') return;
  const begun = await begunBefore(account, runId);
  const isFinished = begun === undefined || (await finish(account, begun, job));
  const deadLetter = isFinished ? await loadDeadLetter(account.id, dlqId, now()) : undefined;
  if (deadLetter !== undefined && isOfRun(deadLetter))
    await removeDeadLetters(account.id, [deadLetter], 'sent');
}

/**
 * Lists and delivers a run. An attempt of a message that was not stored may be in flight. Then the job is
 * sent again, until that attempt has been dropped, so that there are never two.
 *
 * @returns whether the run is delivered; false if a later job does it
 */
async function finish(account: Account, begun: Begun, job: RunStartJob): Promise<boolean> {
  const { key, snapshot, record, entries } = begun;
  const { start } = record;
  const checkAt = Math.max(...entries.map(({ notBefore }) => notBefore)) + checkAfterMs;
  if (now() < checkAt) {
    await listRun(listedRun(key, snapshot, start), snapshot.keptUntil);
    await sendJob(job, checkAt);
    return false;
  }
  // A message that would have expired was sent long ago.
  const left = entries.filter(
    (entry) => listMessage({ key, snapshot, start }, account, entry).expiresAt > now(),
  );
  await followStarts(account, [{ ...begun, entries: left }], true);
  return true;
}

export async function isUnfinished(job: RunStartJob): Promise<boolean> {
  if (job.dlqId !== undefined) return (await chosenRun(job.accountId, job.dlqId)) === job.runId;
  return (await storedMessages([job])).size === 0 && (await begunWith(job)) !== undefined;
}
