/** A look at a start, after whoever made it has ended: if it died before the start was finished, that is done here. */
import type { Account } from '../../account/account.ts';
import { now } from '../../shared/clock.ts';
import { TransientError } from '../../error/transientError.ts';
import type { RunStartJob } from '../../job/job.ts';
import { hasEnded } from '../run.ts';
import { loadDeadLetter } from '../../deadLetter/rows.ts';
import { chosenRun, claimRun } from '../store/deadRuns.ts';
import { storedMessages } from '../../message/list.ts';
import { loadSnapshot, type RunKey } from '../store/journals.ts';
import { listRun } from '../store/runList.ts';
import { sendJob } from '../../job/send.ts';
import { isOfRun } from '../../deadLetter/deadLetters.ts';
import { removeDeadLetters } from '../../deadLetter/size.ts';
import { ownerOf } from '../../account/owner.ts';
import { begunBefore, rerunPatienceMs } from '../runs/begunBefore.ts';
import { followStarts, listedRun, type Begun } from '../runs/follow.ts';
import { listMessage } from '../runs/runMessages.ts';
import { entryOfUpgrade, isUpgraded, loadStart, loadUpgrade } from '../runs/startRecords.ts';
import { lookAfterMs } from '../runs/startChecks.ts';

/**
 * Looks at a start.
 *
 * @throws when that has to be done again
 */
export async function checkStart(work: RunStartJob): Promise<void> {
  const account = await ownerOf(work);
  if (account === undefined) return;
  if (work.dlqId !== undefined) {
    await lookAtRerun(account, work, work.dlqId);
    return;
  }
  // The row comes last of all: the start was finished, as nearly every one is.
  if ((await storedMessages([work])).size > 0) return;
  const begun = await begunWith(work);
  if (begun !== undefined) await finish(account, begun, work);
}

/**
 * Reads the run that a start made; undefined where there is nothing to finish: the start was never recorded, another one was
 * quicker, or the run has ended.
 */
export async function begunWith({ accountId, runId, messageId }: RunStartJob): Promise<Begun | undefined> {
  const key: RunKey = { accountId, runId };
  const head = await loadSnapshot(key);
  if (head === undefined || hasEnded(head.state)) return undefined;
  const { record } = await loadStart(key, head.startSeq);
  const { entry } = record;
  if (entry.messageId === messageId) return { key, head, record, entries: [entry] };
  const upgrade = isUpgraded(head) ? await loadUpgrade(key, head) : undefined;
  if (upgrade?.messageId !== messageId) return undefined;
  const { start } = upgrade;
  return { key, head, record: { ...record, start }, entries: [entryOfUpgrade(entry, upgrade)] };
}

/** Looks at a run that goes on from a failed one: it is one from the moment at which the dead letter chose it. */
async function lookAtRerun(account: Account, work: RunStartJob, dlqId: string): Promise<void> {
  const { runId } = work;
  if ((await chosenRun(account.id, dlqId)) !== runId) return;
  const time = now();
  const claim = await claimRun(account.id, dlqId, { now: time, endedBy: time - rerunPatienceMs });
  if (claim.state === 'theirs') throw new TransientError(`Another process starts the run ${runId}.`);
  if (claim.state !== 'ours') return;
  const begun = await begunBefore(account, runId);
  const isFinished = begun === undefined || (await finish(account, begun, work));
  const deadLetter = isFinished ? await loadDeadLetter(account.id, dlqId, now()) : undefined;
  if (deadLetter !== undefined && isOfRun(deadLetter))
    await removeDeadLetters(account.id, [deadLetter], 'sent');
}

/**
 * Lists and delivers a run. An attempt of a delayed start may be on its way to a message that was not stored: the look is sent
 * on until that attempt has been dropped, so that no other is made beside it.
 *
 * @returns whether that is done, and not left to a later look
 */
async function finish(account: Account, begun: Begun, work: RunStartJob): Promise<boolean> {
  const { key, head, record, entries } = begun;
  const { start } = record;
  const lookAt = Math.max(...entries.map(({ notBefore }) => notBefore)) + lookAfterMs;
  if (now() < lookAt) {
    await listRun(listedRun(key, head, start), head.keptUntil);
    await sendJob(work, lookAt);
    return false;
  }
  // Rows that have expired since were of messages that were sent long ago.
  const left = entries.filter((entry) => listMessage({ key, head, start }, account, entry).expiresAt > now());
  await followStarts(account, [{ ...begun, entries: left }], true);
  return true;
}
