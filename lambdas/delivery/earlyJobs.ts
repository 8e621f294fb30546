/** Jobs that come early: before the write of their message's row, before a change of it, or before the end of its quiet period. */
import { log } from '../aws/log.ts';
import { attemptJob, type AttemptJob } from '../job/job.ts';
import { sendJob } from '../job/send.ts';
import { declineLanes } from '../lane/leaveLanes.ts';
import { leaveAsCallback } from '../lane/queueSlot.ts';
import { loadMessage, type MessageHistory } from '../message/history.ts';
import { now, secondMs } from '../shared/clock.ts';
import { timeOfId } from '../shared/ids.ts';
import { pause } from '../shared/pause.ts';

/** A request to the API ends after 29 s: a row that is not there by then will not come. */
const rowTimeoutMs = 30 * secondMs;

/**
 * The row will not come after so many reads, a second apart, whatever the clock says. A machine that slept while the row was
 * being written wakes up with old jobs; then the write, which ends after 13 s, goes on.
 */
const leastReads = 15;

/** Most rows come a few milliseconds after their job. */
const soonMs = [10, 30, 90];

const isYoung = ({ messageId, madeAt = timeOfId(messageId) }: AttemptJob): boolean =>
  now() - madeAt < rowTimeoutMs;

/** Loads the message of a job. Where it is not there, a young job tries a few times more. */
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

/** Sends a job again that came before a write, unless that write will never come. @returns whether it was sent */
async function isSentAgain(job: AttemptJob): Promise<boolean> {
  const looks = (job.looks ?? 0) + 1;
  if (!isYoung(job) && looks >= leastReads) return false;
  await sendJob({ ...job, looks }, now() + secondMs);
  return true;
}

/** Sends a job again whose message may come yet, and drops any other. */
export async function waitForRow(job: AttemptJob): Promise<void> {
  if (await isSentAgain(job)) return;
  await leaveWithoutMessage(job);
  log.warn('An attempt of no message was dropped', { messageId: job.messageId });
}

/** Drops a job from before a change of its message, and the job of a change that was not made after all. */
export async function waitForChange(job: AttemptJob): Promise<void> {
  if (job.change !== undefined && (await isSentAgain(job))) return;
  log.info('The job of another change of the message was dropped', { messageId: job.messageId });
}

/**
 * Closes the quiet period of a debounced message before its first attempt.
 *
 * @returns when its job is to be sent again, Unix milliseconds, because a publish has joined the period, or because the message belongs
 * to the other delivery queue now; undefined where the attempt is to be made
 */
export async function endOfQuiet({ message }: MessageHistory, job: AttemptJob): Promise<number | undefined> {
  if (message.debounce === undefined || job.attempt > 0 || job.admittedTo !== undefined) return undefined;
  const { closePeriod } = await import('../debounce/closePeriod.ts');
  const dueAt = await closePeriod(message.messageId, message.debounce);
  return dueAt ?? (attemptJob(message, 0).queue === job.queue ? undefined : now());
}

/** Leaves the lanes that a job names, which is all that is known of a message without a row. */
export async function leaveWithoutMessage(job: AttemptJob): Promise<void> {
  await Promise.all([declineLanes(job, 'over'), leaveAsCallback(job)]);
}
