/** Does again what the records of runs ask for, after tables were restored or queues were lost. */
import { ownerOf } from '../account/owner.ts';
import { log } from '../aws/log.ts';
import { isFault } from '../job/fault.ts';
import { listOf } from '../shared/lists.ts';
import { isWaiting } from './rules/events.ts';
import type { Snapshot, InvokeRecord } from './rules/journal.ts';
import { hasStep } from './rules/stepSet.ts';
import { hasEnded } from './run.ts';
import { followStart, followSteps } from './runs/follow.ts';
import { settingsOfRun } from './runs/settings.ts';
import { followEndOrLeave, followUpEnd } from './steps/endRun.ts';
import { loadSnapshot, readJournal, type RunKey } from './store/journals.ts';
import type { JournalRow } from './store/rows.ts';
import { allActiveRuns } from './store/runList.ts';
import { putWaiter } from './store/waiters.ts';
import { sendTimeout, waiterOf } from './waits/endWait.ts';

/** Counts runs of the region that have not ended. */
export async function countActiveRuns(): Promise<number> {
  let count = 0;
  for await (const { state } of allActiveRuns()) count += state === 'RUN_STARTED' ? 1 : 0;
  return count;
}

export interface RecoveredRuns {
  /** Waits that were given their timeouts. */
  readonly waits: number;
  /** Runs whose records the service fails with: the log names each. */
  readonly skippedRuns: number;
}

/** Does for each run what its records ask for. A run that the service fails with is skipped, and holds up none of the others. */
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

/** @returns how many waits were given their deadlines */
async function recoverRun(key: RunKey, startSeq: number, since: number, isDryRun: boolean): Promise<number> {
  const head = await loadSnapshot(key);
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
async function tellAgain({ accountId }: RunKey, head: Snapshot, invoke: InvokeRecord): Promise<void> {
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
    await followSteps(account, { key, head, start: await settingsOfRun(key, head) }, record, true);
}
