/**
 * Makes the work that tables ask for: after tables were restored, or queues or schedules were lost. Tables say what is to be
 * done; SQS and Scheduler only say when, so all that they had can be made anew from the tables. Doing it twice, or beside work
 * that is still there, may make an attempt twice, and nothing else.
 */
import { now } from '../shared/clock.ts';
import type { Lane } from '../lane/lane.ts';
import { isOver } from '../message/message.ts';
import { parseCron } from '../schedule/cron.ts';
import { isFault } from '../job/fault.ts';
import { attemptWork, type PumpWork } from '../job/job.ts';
import { isWaiting } from '../workflow/rules/events.ts';
import type { Head, InvokeRecord } from '../workflow/rules/journal.ts';
import { hasEnded } from '../workflow/run.ts';
import { hasStep } from '../workflow/rules/stepSet.ts';
import { log } from '../aws/log.ts';
import { allLanes } from '../lane/store/lanes.ts';
import { type MessageHistory, dueTimeOf } from '../message/history.ts';
import { unfinishedMessages } from '../message/unfinished.ts';
import { allSchedules } from '../schedule/rows.ts';
import { loadHead, readJournal, type RunKey } from '../workflow/store/journals.ts';
import type { JournalRow } from '../workflow/store/rows.ts';
import { allActiveRuns } from '../workflow/store/runList.ts';
import { putWaiter } from '../workflow/store/waiters.ts';
import { sendAll, type DueWork } from '../job/send.ts';
import { ownerOf } from '../account/owner.ts';
import { startFiring } from '../schedule/firing.ts';
import { followEndOrLeave, followUpEnd } from '../workflow/steps/endRun.ts';
import { sendTimeout, waiterOf } from '../workflow/waits/endWait.ts';
import { factsOf } from '../workflow/runs/settings.ts';
import { followStart, followSteps } from '../workflow/runs/follow.ts';
import { laneWorkOf, nameOf, type LaneWork } from '../lane/recover.ts';

export interface RecoverOptions {
  /**
   * Unix milliseconds: of what was recorded since, it is not known whether all that follows was done, so that is done again. An
   * hour before the moment that was restored is enough: no worker takes longer.
   */
  readonly since: number;
  /** Counts, and sends nothing. */
  readonly isDryRun: boolean;
}

/** The counts of all that was made, or would be. */
export interface Recovered {
  /** Attempts that were sent. */
  readonly attempts: number;
  /** Attempts that wait in lines, and go on when there is room. */
  readonly waiting: number;
  /** Records whose consequences are done again. */
  readonly followUps: number;
  /** Looks at lanes. */
  readonly pumps: number;
  readonly schedules: number;
  /** Deadlines of waits of runs. */
  readonly waits: number;
  /** Runs whose records the service fails with: the log names each. */
  readonly skippedRuns: number;
}

/** Work that is sent at once. */
const together = 500;

/** @throws when something could not be sent: it has to be done again, from the beginning */
export async function recover({ since, isDryRun }: RecoverOptions): Promise<Recovered> {
  const send = async (due: readonly DueWork[]): Promise<void> => {
    if (!isDryRun) await sendAll(due, (one) => one);
  };
  const lanes = await listOf(allLanes());
  const laneWork = await laneWorkOf(lanes);
  const counted = { attempts: 0, waiting: 0, followUps: 0 };
  let batch: DueWork[] = [];
  for await (const history of unfinishedMessages(since)) {
    const { work, isInLine } = workOf(history, since, laneWork);
    counted.waiting += isInLine ? 1 : 0;
    const followUps = work.filter((due) => due.work.kind === 'attempt' && due.work.isFollowUp === true);
    counted.followUps += followUps.length;
    counted.attempts += work.length - followUps.length;
    batch.push(...work);
    if (batch.length < together) continue;
    await send(batch);
    batch = [];
  }
  await send(batch);

  const pumps = lanes.flatMap(pumpsOf);
  // Behind the attempts: whoever is admitted by them has its place already.
  await send(pumps);
  const schedules = await startSchedules(isDryRun);
  return { ...counted, pumps: pumps.length, schedules, ...(await recoverRuns(since, isDryRun)) };
}

async function listOf<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** The work of one message: its next attempt, and a look at its last record where that is new. */
function workOf(
  history: MessageHistory,
  since: number,
  { waiting, admitted }: LaneWork,
): { readonly work: readonly DueWork[]; readonly isInLine: boolean } {
  const { message, attempts } = history;
  const last = attempts.at(-1);
  const followUp: readonly DueWork[] =
    last !== undefined && last.recordedAt >= since
      ? [{ work: { ...attemptWork(message, last.number), isFollowUp: true }, dueAt: now() }]
      : [];
  if (isOver(history)) return { work: followUp, isInLine: false };
  const attempt = last === undefined ? 0 : last.number + 1;
  const name = nameOf(message.accountId, { messageId: message.messageId, attempt });
  if (waiting.has(name)) return { work: followUp, isInLine: true };
  const admittedTo = admitted.get(name);
  // The look sends the next attempt itself, but it does not know of an admission.
  if (followUp.length > 0 && admittedTo === undefined) return { work: followUp, isInLine: false };
  const next = { work: { ...attemptWork(message, attempt), admittedTo }, dueAt: dueTimeOf(history, attempt) };
  return { work: [...followUp, next], isInLine: false };
}

/** A look at once, and those that the lane counts on. */
function pumpsOf({ accountId, kind, name, pumpAt, keepAt }: Lane): readonly DueWork[] {
  const pump = (dueAt: number, keepsFrom?: number): DueWork => {
    const work: PumpWork = { kind: 'pump', accountId, lane: kind, name, dueAt, keepsFrom };
    return { work, dueAt };
  };
  return [
    pump(now(), 0),
    ...(pumpAt > now() ? [pump(pumpAt)] : []),
    ...(keepAt > now() ? [pump(keepAt, 0)] : []),
  ];
}

/** Has Scheduler fire all schedules; what it fires already stays as it is. */
async function startSchedules(isDryRun: boolean): Promise<number> {
  let count = 0;
  for await (const schedule of allSchedules()) {
    count += 1;
    if (!isDryRun) await startFiring(schedule, parseCron('Svc-Cron', schedule.cron));
  }
  return count;
}

/** Does for each run what its records ask for. A run that the service fails with is skipped, and holds up none of the others. */
async function recoverRuns(
  since: number,
  isDryRun: boolean,
): Promise<Pick<Recovered, 'waits' | 'skippedRuns'>> {
  let waits = 0;
  let skippedRuns = 0;
  for await (const { accountId, runId, startSeq } of allActiveRuns()) {
    try {
      waits += await recoverRun({ accountId, runId }, startSeq, since, isDryRun);
    } catch (error) {
      if (!isFault(error)) throw error;
      skippedRuns += 1;
      log.error('A run could not be recovered, and is skipped', {
        accountId,
        runId,
        error: error instanceof Error ? error : String(error),
      });
    }
  }
  return { waits, skippedRuns };
}

/** @returns how many waits were given their deadlines */
async function recoverRun(key: RunKey, startSeq: number, since: number, isDryRun: boolean): Promise<number> {
  const head = await loadHead(key);
  // The list may lack the end of a run, and the next run of its id.
  if (head?.startSeq !== startSeq) return 0;
  const rows = await listOf(readJournal(key, startSeq));
  let waits = 0;
  for (const {
    record,
    head: { seq },
  } of rows) {
    if (record.kind !== 'wait' || !isWaiting(head, seq)) continue;
    waits += 1;
    if (isDryRun) continue;
    await putWaiter(waiterOf(key, seq, record), head.keptUntil);
    await sendTimeout(key, seq, record);
  }
  if (isDryRun) return waits;
  for (const { record } of rows) if (record.kind === 'invoke') await tellAgain(key, head, record);
  const newest = rows.at(-1);
  if (newest !== undefined && newest.record.at >= since) await followNewest(key, newest);
  return waits;
}

/** Tells a run of the end of one that it invoked, where that has ended and the run does not know. */
async function tellAgain({ accountId }: RunKey, head: Head, invoke: InvokeRecord): Promise<void> {
  const { stepId } = invoke.step;
  if (hasEnded(head.state) || hasStep(head.steps, 'result', stepId)) return;
  const { runId, messageId } = invoke;
  const account = await ownerOf({ accountId, messageId });
  if (account === undefined) return;
  for await (const { record, head: started } of readJournal({ accountId, runId }, 0)) {
    // Its id may have had runs before, and since.
    if (record.kind !== 'start' || record.entry.messageId !== messageId) continue;
    await followUpEnd(account, { runId, startSeq: started.seq }, followEndOrLeave);
    return;
  }
}

/** Does what follows the last record of a run: whoever wrote it may not have come so far before the moment that was restored. */
async function followNewest(key: RunKey, { record, head }: JournalRow): Promise<void> {
  const account = await ownerOf({ accountId: key.accountId, messageId: key.runId });
  if (account === undefined) return;
  if (record.kind === 'start') await followStart(account, key, { head, record }, true);
  if (record.kind === 'end') await followEndOrLeave(account, key, head, record);
  if (record.kind === 'steps')
    await followSteps(account, { key, head, start: await factsOf(key, head) }, record, true);
}
