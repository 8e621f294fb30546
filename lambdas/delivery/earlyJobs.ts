/**
 * Jobs that arrive before the write of their message's row, before a change of it, before the end of its quiet period, or while
 * its account is not active.
 */
import { isServed, type Account } from '../account/account.ts';
import { ownerOf } from '../account/owner.ts';
import { log } from '../aws/log.ts';
import { attemptJob, type AttemptJob } from '../job/job.ts';
import { sendJob } from '../job/send.ts';
import { waitForAccount } from '../lane/acquireLanes.ts';
import { declineLanes } from '../lane/leaveLanes.ts';
import { leaveAsCallback } from '../lane/queueSlot.ts';
import { loadMessage, type MessageHistory } from '../message/history.ts';
import { isRecent, now, secondMs } from '../shared/clock.ts';
import { timeOfId } from '../shared/ids.ts';
import { pause } from '../shared/pause.ts';

/**
 * The row is written by an API request, which times out after 29 s. If the row is missing after this time, it
 * will never be written.
 */
const rowTimeoutMs = 30 * secondMs;

/**
 * The row is read at least this often, once per second. If a machine sleeps while the row is written, it
 * wakes up with old jobs, and the write continues for up to 13 s.
 */
const leastReads = 15;

const soonMs = [10, 30, 90];

const isYoung = ({ messageId, madeAt = timeOfId(messageId) }: AttemptJob): boolean =>
  isRecent(madeAt, rowTimeoutMs, now());

export async function loadMessageOf(job: AttemptJob): Promise<MessageHistory | undefined> {
  const found = await loadMessage(job);
  if (found !== undefined || !isYoung(job)) return found;
  for (const pauseMs of soonMs) {
    await pause(pauseMs);
    const history = await loadMessage(job);
    if (history !== undefined) return history;
  }
  return undefined;
}

/** @returns whether the job was sent again, because the row may still be written */
async function isSentAgain(job: AttemptJob): Promise<boolean> {
  const looks = (job.looks ?? 0) + 1;
  if (!isYoung(job) && looks >= leastReads) return false;
  await sendJob({ ...job, looks }, now() + secondMs);
  return true;
}

/** Sends a job again if its message may still be written. */
export async function waitForRow(job: AttemptJob): Promise<void> {
  if (await isSentAgain(job)) return;
  await leaveWithoutMessage(job);
  log.warn('An attempt of no message was dropped', { messageId: job.messageId });
}

/** Drops a job that is older than a change of its message, or of a change that was not made. */
export async function waitForChange(job: AttemptJob): Promise<void> {
  if (job.change !== undefined && (await isSentAgain(job))) return;
  log.info('The job of another change of the message was dropped', { messageId: job.messageId });
}

/**
 * Whether another publish began the quiet period that the job is for. The period in the message has its own
 * job.
 */
export const isReplaced = (
  { message: { debounce } }: MessageHistory,
  { attempt, madeAt }: AttemptJob,
): boolean =>
  debounce !== undefined && attempt === 0 && madeAt !== undefined && madeAt !== debounce.firstDueAt;

/**
 * Closes the quiet period of a debounced message before its first attempt.
 *
 * @returns undefined if the attempt may be made; or when to send its job again, because a publish has joined
 * the period, or the message now belongs to the other delivery queue
 */
export async function endOfQuiet({ message }: MessageHistory, job: AttemptJob): Promise<number | undefined> {
  if (message.debounce === undefined || job.attempt > 0 || job.admittedTo !== undefined) return undefined;
  const { closePeriod } = await import('../debounce/closePeriod.ts');
  const dueAt = await closePeriod(message.messageId, message.debounce);
  return dueAt ?? (attemptJob(message, 0).queue === job.queue ? undefined : now());
}

/** Leaves the lanes of a message without a row. Only its job is known. */
export async function leaveWithoutMessage(job: AttemptJob): Promise<void> {
  await Promise.all([declineLanes(job, 'over'), leaveAsCallback(job)]);
}

/**
 * Finds the account of a message. An attempt waits until its account is active.
 *
 * @returns undefined if no attempt is to be made now: the account was deleted, or is not active
 */
export async function servedOwner(
  history: MessageHistory,
  job: AttemptJob,
  isAgain: boolean,
): Promise<Account | undefined> {
  const account = await ownerOf(history.message);
  if (account === undefined || isServed(account)) return account;
  await waitForAccount(history, account, job, isAgain);
  return undefined;
}
