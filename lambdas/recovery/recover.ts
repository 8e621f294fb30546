/**
 * Recreates jobs after tables were restored, or queues or schedules were lost. The tables say what must be done; SQS and
 * Scheduler only say when. If this is repeated, or if the old jobs still exist, some attempts may be made twice.
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
 * The longest time from a record until the work that follows it is done. If the worker of a long job dies at
 * its start, the job is hidden for 90 minutes, and that may happen twice.
 */
export const longestWorkMs = 3 * hourMs;

interface RecoverOptions {
  /**
   * The work that follows records from this time on is repeated, because it may not have been done.
   * `longestWorkMs` before the restored time, or before the loss, is enough.
   */
  readonly since: number;
  /** If true, jobs are only counted, not sent. */
  readonly isDryRun: boolean;
}

interface Recovered extends RecoveredRuns {
  /** Attempts whose jobs were sent. */
  readonly attempts: number;
  /** Attempts in waiting lines, which start when there is capacity. */
  readonly waiting: number;
  /** Records after which the work that follows is repeated. */
  readonly followUps: number;
  readonly pumps: number;
  readonly schedules: number;
}

const together = 500;

/** @throws if something could not be sent: the whole recovery must then be repeated */
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
  // Attempts are sent before pumps, so that an attempt exists when a pump grants it a slot.
  await send(pumps);
  const schedules = await startSchedules(isDryRun);
  return { ...counted, pumps: pumps.length, schedules, ...(await recoverRuns(since, isDryRun)) };
}

/** The jobs of a message: its next attempt, and a check of its last record if that is recent. */
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
  // The check also sends the next attempt, but without the slot that a lane may have granted it.
  if (followUp.length > 0 && admittedTo === undefined) return { jobs: followUp, isInLine: false };
  const next = { job: { ...attemptJob(message, attempt), admittedTo }, dueAt: dueTimeOf(history, attempt) };
  return { jobs: [...followUp, next], isInLine: false };
}

/** Lets Scheduler fire all schedules. Schedules that it already has are not changed. */
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
