/**
 * Recreates the jobs that tables ask for, after tables were restored, or queues or schedules were lost. Tables say what is to be
 * done; SQS and Scheduler only say when, so all that they had can be recreated from the tables. To do it twice, or beside jobs
 * that are still there, may make an attempt twice, and does no other harm.
 */
import { hourMs, now } from '../shared/clock.ts';
import { attemptJob } from '../job/job.ts';
import { sendAll, type DueJob } from '../job/send.ts';
import { laneJobsOf, nameOf, pumpsOf, readLanes, type LaneJobs } from '../lane/recover.ts';
import { dueTimeOf } from '../message/status.ts';
import { isOver } from '../message/message.ts';
import { unfinishedMessages, type Unfinished } from '../message/unfinished.ts';
import { parseCron } from '../schedule/cron.ts';
import { lookForMissed, startFiring } from '../schedule/firing.ts';
import { allSchedules } from '../schedule/rows.ts';
import { recoverRuns, type RecoveredRuns } from '../workflow/recover.ts';

/**
 * The longest time that a worker takes from a record to all that follows from it. A long job whose worker died at its start stays
 * hidden for 90 minutes, and may meet that twice.
 */
export const longestWorkMs = 3 * hourMs;

export interface RecoverOptions {
  /**
   * Unix milliseconds. What follows from records since then is done again, because it may not have been done. `longestWorkMs`
   * before the moment that was restored, or of the loss, is enough.
   */
  readonly since: number;
  /** Whether jobs are only counted, and none is sent. */
  readonly isDryRun: boolean;
}

/** The counts of all that was made, or would be. */
export interface Recovered extends RecoveredRuns {
  /** Attempts that were sent. */
  readonly attempts: number;
  /** Attempts that wait in lines, and go on when there is capacity. */
  readonly waiting: number;
  /** Records whose consequences are done again. */
  readonly followUps: number;
  /** Pumps of lanes. */
  readonly pumps: number;
  readonly schedules: number;
}

/** Jobs that are sent at once. */
const together = 500;

/** @throws when something could not be sent: it has to be done again, from the beginning */
export async function recover({ since, isDryRun }: RecoverOptions): Promise<Recovered> {
  const send = async (due: readonly DueJob[]): Promise<void> => {
    if (!isDryRun) await sendAll(due, (one) => one);
  };
  const lanes = await readLanes();
  const laneJobs = await laneJobsOf(lanes);
  const counted = { attempts: 0, waiting: 0, followUps: 0 };
  let batch: DueJob[] = [];
  for await (const history of unfinishedMessages(since)) {
    const { jobs, isInLine } = jobsOf(history, since, laneJobs);
    counted.waiting += isInLine ? 1 : 0;
    const followUps = jobs.filter((due) => due.job.kind === 'attempt' && due.job.isFollowUp === true);
    counted.followUps += followUps.length;
    counted.attempts += jobs.length - followUps.length;
    batch.push(...jobs);
    if (batch.length < together) continue;
    await send(batch);
    batch = [];
  }
  await send(batch);

  const pumps = lanes.flatMap(pumpsOf);
  // Pumps come after the attempts: an attempt to which a pump grants a slot has its place already.
  await send(pumps);
  const schedules = await startSchedules(isDryRun);
  return { ...counted, pumps: pumps.length, schedules, ...(await recoverRuns(since, isDryRun)) };
}

/** The jobs of one message: its next attempt, and the check of its last record where that is new. */
function jobsOf(
  history: Unfinished,
  since: number,
  { waiting, granted }: LaneJobs,
): { readonly jobs: readonly DueJob[]; readonly isInLine: boolean } {
  const { message, attempts } = history;
  const last = attempts.at(-1);
  const followUp: readonly DueJob[] =
    last !== undefined && last.recordedAt >= since
      ? [{ job: { ...attemptJob(message, last.number), isFollowUp: true }, dueAt: now() }]
      : [];
  if (isOver(history)) return { jobs: followUp, isInLine: false };
  const attempt = last === undefined ? 0 : last.number + 1;
  const name = nameOf(message.accountId, { messageId: message.messageId, attempt });
  if (waiting.has(name)) return { jobs: followUp, isInLine: true };
  const admittedTo = granted.get(name);
  // The check sends the next attempt itself, but it does not know of a grant.
  if (followUp.length > 0 && admittedTo === undefined) return { jobs: followUp, isInLine: false };
  const next = { job: { ...attemptJob(message, attempt), admittedTo }, dueAt: dueTimeOf(history, attempt) };
  return { jobs: [...followUp, next], isInLine: false };
}

/** Has Scheduler fire all schedules; those that it fires already stay as they are. */
async function startSchedules(isDryRun: boolean): Promise<number> {
  let count = 0;
  for await (const schedule of allSchedules()) {
    count += 1;
    if (isDryRun) continue;
    await startFiring(schedule, parseCron('Svc-Cron', schedule.cron));
    await lookForMissed(schedule);
  }
  return count;
}
