import { entriesOf } from '../rules/entry.ts';
import type { RunStartJob } from '../../job/job.ts';
import {
  isActive,
  type Snapshot,
  type ListedEntry,
  type RunStart,
  type StartRecord,
  type UpgradeRecord,
  type JournalRecord,
  type RunKey,
} from '../rules/journal.ts';
import { loadRecord, loadRow, loadSnapshot, readJournal, type JournalRow } from '../store/journals.ts';
import type { Begun } from './follow.ts';

export interface RunJournal {
  readonly key: RunKey;
  /** The newest settings: those of the start, of the upgrade, or of a step. */
  readonly start: RunStart;
  /** The run's snapshot after the last record. */
  readonly snapshot: Snapshot;
  /** In order; the first is the start. */
  readonly records: readonly [StartRecord, ...JournalRecord[]];
}

/**
 * Strongly consistent.
 *
 * @param startSeq the place of the run's start, because the id may have had other runs
 * @returns undefined if there is no run, or its records have expired
 */
export async function loadRunJournal(key: RunKey, startSeq: number): Promise<RunJournal | undefined> {
  let first: StartRecord | undefined;
  let start: RunStart | undefined;
  let snapshot: Snapshot | undefined;
  const following: JournalRecord[] = [];
  for await (const row of readJournal(key, startSeq)) {
    const { record } = row;
    if (record.kind === 'start') {
      if (row.snapshot.seq !== startSeq) break;
      first = record;
    } else following.push(record);
    if ('start' in record) start = record.start;
    snapshot = row.snapshot;
  }
  // One of the rows has expired. DynamoDB removes expired rows in any order.
  if (first === undefined || start === undefined || snapshot === undefined) return undefined;
  return { key, start, snapshot, records: [first, ...following] };
}

export interface StartRow extends JournalRow {
  readonly record: StartRecord;
}

export const isStartRow = (row: JournalRow | undefined): row is StartRow => row?.record.kind === 'start';

/** @throws if the start is not found */
export async function loadStart(key: RunKey, startSeq: number): Promise<StartRow> {
  const row = await loadRow(key, startSeq);
  if (!isStartRow(row)) throw new Error(`The start of the run ${key.runId} is not there.`);
  return row;
}

export const isUpgraded = ({ factsSeq, startSeq }: Snapshot): boolean => factsSeq > startSeq;

/**
 * Finds the record of a run's upgrade.
 *
 * @returns undefined if a step has changed the run's settings since, which shows that the upgrade was
 * delivered
 */
export async function loadUpgrade(key: RunKey, { factsSeq }: Snapshot): Promise<UpgradeRecord | undefined> {
  const record = await loadRecord(key, factsSeq);
  if (record === undefined) throw new Error(`The settings of the run ${key.runId} are not there.`);
  return record.kind === 'upgrade' ? record : undefined;
}

/** The entry that delivers the payload again, to a client that has identified itself. */
export const entryOfUpgrade = (entry: ListedEntry, { messageId, at }: UpgradeRecord): ListedEntry => ({
  ...entry,
  messageId,
  createdAt: at,
  notBefore: at,
});

export interface LoadedRun {
  readonly key: RunKey;
  readonly start: RunStart;
  readonly snapshot: Snapshot;
  /** All entries, the initial payload first. Bodies in the bucket are not loaded. */
  readonly entries: readonly ListedEntry[];
}

/**
 * Strongly consistent.
 *
 * @returns undefined if its records have expired
 */
export async function loadRun(key: RunKey, startSeq: number): Promise<LoadedRun | undefined> {
  const journal = await loadRunJournal(key, startSeq);
  if (journal === undefined) return undefined;
  const { start, snapshot, records } = journal;
  return {
    key,
    start,
    snapshot,
    entries: records.flatMap(entriesOf),
  };
}

/**
 * Finds a start that may be unfinished.
 *
 * @returns undefined if it is not: it was never recorded, another start was faster, or the run has ended
 */
export async function begunWith({ accountId, runId, messageId }: RunStartJob): Promise<Begun | undefined> {
  const key: RunKey = { accountId, runId };
  const snapshot = await loadSnapshot(key);
  if (!isActive(snapshot)) return undefined;
  const { record } = await loadStart(key, snapshot.startSeq);
  const { entry } = record;
  if (entry.messageId === messageId) return { key, snapshot, record, entries: [entry] };
  const upgrade = isUpgraded(snapshot) ? await loadUpgrade(key, snapshot) : undefined;
  if (upgrade?.messageId !== messageId) return undefined;
  const { start } = upgrade;
  return { key, snapshot, record: { ...record, start }, entries: [entryOfUpgrade(entry, upgrade)] };
}

function requestIn(
  record: JournalRecord | undefined,
): { readonly messageId?: string | undefined } | undefined {
  if (record?.kind === 'end') return { messageId: record.failure?.requestId };
  return record?.kind === 'failureFunction' ? { messageId: record.messageId } : undefined;
}

/**
 * Finds the newest failure callback of a run.
 *
 * @returns undefined if the failure is not reported, or the journal has expired
 */
export async function failureRequestIdOf(key: RunKey, startSeq: number): Promise<string | undefined> {
  const snapshot = await loadSnapshot(key);
  if (snapshot?.startSeq === startSeq) {
    // Few records follow the end of a run: only late results of invokes.
    for (let { seq } = snapshot; seq > startSeq; seq -= 1) {
      const found = requestIn(await loadRecord(key, seq));
      if (found !== undefined) return found.messageId;
    }
    return undefined;
  }
  // The id has another run now.
  let messageId: string | undefined;
  for await (const { record, snapshot: at } of readJournal(key, startSeq)) {
    if (at.startSeq !== startSeq) break;
    messageId = requestIn(record)?.messageId ?? messageId;
  }
  return messageId;
}
