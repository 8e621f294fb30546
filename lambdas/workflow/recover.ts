/** Repeats the work that follows the records of runs, after tables were restored or queues were lost. */
import { ownerOf } from '../account/owner.ts';
import { log } from '../aws/log.ts';
import { isFault } from '../job/fault.ts';
import { listOf } from '../shared/lists.ts';
import { isWaiting } from './rules/events.ts';
import { isActive, type InvokeRecord, type RunKey, type Snapshot } from './rules/journal.ts';
import { hasStep } from './rules/placing.ts';
import { followStart, followSteps } from './runs/follow.ts';
import { settingsOfRun } from './runs/changeRun.ts';
import { followEndOrLeave, followUpEnd } from './steps/end.ts';
import { loadSnapshot, readJournal, type JournalRow } from './store/journals.ts';
import { allActiveRuns } from './store/runList.ts';
import { beginWait } from './waits/endWait.ts';

export async function countActiveRuns(): Promise<number> {
  let count = 0;
  for await (const { state } of allActiveRuns()) count += state === 'RUN_STARTED' ? 1 : 0;
  return count;
}

export interface RecoveredRuns {
  /** How many timeouts of waits were scheduled again. */
  readonly waits: number;
  /** Runs that were skipped because of errors. The log names each. */
  readonly skippedRuns: number;
}

/** Runs that cause an error are skipped. */
export async function recoverRuns(since: number, isDryRun: boolean): Promise<RecoveredRuns> {
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

/** @returns how many timeouts of waits were scheduled again */
async function recoverRun(key: RunKey, startSeq: number, since: number, isDryRun: boolean): Promise<number> {
  const snapshot = await loadSnapshot(key);
  // The run may have ended, and its id may have another run now.
  if (snapshot?.startSeq !== startSeq) return 0;
  const rows = await listOf(readJournal(key, startSeq));
  let waits = 0;
  for (const {
    record,
    snapshot: { seq },
  } of rows) {
    if (record.kind !== 'wait' || !isWaiting(snapshot, seq)) continue;
    waits += 1;
    if (isDryRun) continue;
    await beginWait(key, { seq, wait: record }, snapshot.keptUntil);
  }
  if (isDryRun) return waits;
  for (const { record } of rows) if (record.kind === 'invoke') await tellAgain(key, snapshot, record);
  const newest = rows.at(-1);
  if (newest !== undefined && newest.record.at >= since) await followNewest(key, newest);
  return waits;
}

/** Reports the end of an invoked run to the run that invoked it, if that still waits. */
async function tellAgain({ accountId }: RunKey, snapshot: Snapshot, invoke: InvokeRecord): Promise<void> {
  const { stepId } = invoke.step;
  if (!isActive(snapshot) || hasStep(snapshot.steps, 'result', stepId)) return;
  const { runId, messageId } = invoke;
  const account = await ownerOf({ accountId, messageId });
  if (account === undefined) return;
  for await (const { record, snapshot: started } of readJournal({ accountId, runId }, 0)) {
    // The id may have had other runs before or since.
    if (record.kind !== 'start' || record.entry.messageId !== messageId) continue;
    await followUpEnd(account, { runId, startSeq: started.seq }, followEndOrLeave);
    return;
  }
}

/** Repeats the work that follows a run's newest record, because it may have been lost. */
async function followNewest(key: RunKey, { record, snapshot }: JournalRow): Promise<void> {
  const account = await ownerOf({ accountId: key.accountId, messageId: key.runId });
  if (account === undefined) return;
  if (record.kind === 'start') await followStart(account, key, { snapshot, record }, true);
  if (record.kind === 'end') await followEndOrLeave(account, key, snapshot, record);
  if (record.kind === 'steps')
    await followSteps(account, { key, snapshot, start: await settingsOfRun(key, snapshot) }, record, true);
}
