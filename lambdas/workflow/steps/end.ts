/** Ends a run that returned or was cancelled, and does the work that follows the end of any run. */
import { limitsOf, type Account } from '../../account/account.ts';
import { dayMs, now, secondMs } from '../../shared/clock.ts';
import { isFault } from '../../job/fault.ts';
import { newId } from '../../shared/ids.ts';
import { logRetentionMs } from '../../message/message.ts';
import type { RunEndJob } from '../../job/job.ts';
import {
  isMeant,
  type EndRecord,
  type Snapshot,
  type JournalRecord,
  type RunKey,
  type WhichRun,
} from '../rules/journal.ts';
import { log } from '../../aws/log.ts';
import { loadSnapshot, loadRecord } from '../store/journals.ts';
import { listEnd } from '../store/runList.ts';
import { sendJob } from '../../job/send.ts';
import { changeRun, storeEntryBody, settingsOfRun, extendRun } from '../runs/changeRun.ts';
import { tellInvoker } from './tellInvoker.ts';
import { listedRun } from '../runs/follow.ts';
import { loadRunJournal } from '../runs/loadRun.ts';

export interface RunEnd {
  readonly state: 'RUN_SUCCESS' | 'RUN_CANCELED';
  /** The value that the function returned. */
  readonly response?: Uint8Array;
}

/**
 * The delay of the job that does this work again. It is sent before the end is written, in case this process
 * dies, and runs after the request is over.
 */
const followUpMs = 30 * secondMs;

const endedForMs = (account: Account): number => logRetentionMs(limitsOf(account)) + dayMs;

/** @returns whether this call ended the run; false if the run had ended before or is unknown */
export async function endRun(account: Account, which: WhichRun, end: RunEnd): Promise<boolean> {
  const key: RunKey = { accountId: account.id, runId: which.runId };
  const found = await loadSnapshot(key);
  if (found === undefined) return false;
  if (!isMeant(found, which)) {
    // The process that ended the run may have died before it updated the list of runs.
    if (found.createdAt === which.createdAt) {
      await listEnd(listedRun(key, found, await settingsOfRun(key, found)), found.keptUntil);
    }
    return false;
  }
  const run = { ...which, createdAt: found.createdAt };
  const start = await settingsOfRun(key, found);
  const time = now();
  if (start.invoker !== undefined) await sendFollowUp(key, found);
  const record = await endRecord(account, key, found, end, time);
  const change = await changeRun(key, async (snapshot) => {
    if (snapshot === undefined || !isMeant(snapshot, run)) return undefined;
    return { record, keptUntil: await extendRun(key, snapshot, time + endedForMs(account)) };
  });
  if (change.record === undefined || change.snapshot === undefined) return false;
  await followEndOrLeave(account, key, change.snapshot, record);
  return true;
}

const sendFollowUp = (key: RunKey, { createdAt, startSeq }: Snapshot): Promise<void> =>
  sendJob({ kind: 'runEnd', ...key, createdAt, startSeq }, now() + followUpMs);

async function endRecord(
  account: Account,
  key: RunKey,
  snapshot: Snapshot,
  end: RunEnd,
  time: number,
): Promise<EndRecord> {
  const { state, response } = end;
  if (response === undefined || response.length === 0) return { kind: 'end', at: time, state };
  const responseId = newId('msg', time, account.shards);
  const of = { accountId: key.accountId, messageId: responseId, expiresAt: snapshot.keptUntil };
  return { kind: 'end', at: time, state, responseId, response: await storeEntryBody(of, response, time) };
}

/**
 * Shows the end of a run in the list of runs, and reports it to the run that waits for it. Can be repeated.
 */
async function followEnd(
  account: Account,
  key: RunKey,
  snapshot: Snapshot,
  record: EndRecord,
): Promise<void> {
  const start = await settingsOfRun(key, snapshot);
  await Promise.all([
    listEnd(listedRun(key, snapshot, start), snapshot.keptUntil),
    start.invoker && tellInvoker(account, start.invoker, record),
  ]);
}

/**
 * Does {@link followEnd}. If that fails, a separate job retries it, so that the request or delivery that
 * ended the run need not be repeated.
 */
export async function followEndOrLeave(
  account: Account,
  key: RunKey,
  snapshot: Snapshot,
  record: EndRecord,
): Promise<void> {
  try {
    await followEnd(account, key, snapshot, record);
  } catch (error) {
    if (!isFault(error)) throw error;
    log.error('The work after the end of a run is left to a separate job', {
      runId: key.runId,
      error: error instanceof Error ? error : String(error),
    });
    await sendFollowUp(key, snapshot);
  }
}

const isEnd = (record: JournalRecord | undefined): record is EndRecord => record?.kind === 'end';

interface EndOfRun {
  readonly record: EndRecord;
  /** The last snapshot of the run. Its id may have another run now. */
  readonly snapshot: Snapshot;
}

/**
 * @returns undefined if the run has not ended, or has expired
 */
export async function endOfRun(key: RunKey, startSeq: number): Promise<EndOfRun | undefined> {
  const snapshot = await loadSnapshot(key);
  if (snapshot?.startSeq === startSeq) {
    const record = snapshot.endSeq === undefined ? undefined : await loadRecord(key, snapshot.endSeq);
    return isEnd(record) ? { record, snapshot } : undefined;
  }
  const journal = await loadRunJournal(key, startSeq);
  const record = journal?.records.find(isEnd);
  return journal && record && { record, snapshot: journal.snapshot };
}

/**
 * Does the work that follows a run's end, if the end was written.
 *
 * @param follow {@link followEnd}, or {@link followEndOrLeave} to leave errors to a separate job
 */
export async function followUpEnd(
  account: Account,
  { runId, startSeq }: Pick<RunEndJob, 'runId' | 'startSeq'>,
  follow: typeof followEnd = followEnd,
): Promise<void> {
  const key: RunKey = { accountId: account.id, runId };
  const end = await endOfRun(key, startSeq);
  if (end !== undefined) await follow(account, key, end.snapshot, end.record);
}
