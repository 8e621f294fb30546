/**
 * Makes a run that resumes a failed one, under an id that only this process knows. If the process dies, only
 * rows that expire are left.
 */
import type { Account } from '../../account/account.ts';
import { now, secondMs } from '../../shared/clock.ts';
import { derivedId, timeOfId } from '../../shared/ids.ts';
import { weighedChunksOf } from '../../shared/lists.ts';
import { type RerunKind, goingOnFrom } from '../rules/resuming.ts';
import {
  isActive,
  snapshotAfter,
  type Snapshot,
  type ListedEntry,
  type RunStart,
  type StartRecord,
  type StepsRecord,
  type RunKey,
} from '../rules/journal.ts';
import { entryBytes } from '../rules/placing.ts';
import { loadBody } from '../../message/bodies.ts';
import { putRecords, readJournal, loadSnapshot, type JournalRow } from '../store/journals.ts';
import { storeEntryBody, neededUntil, spareMs } from './changeRun.ts';
import type { LoadedRun } from './loadRun.ts';
import type { Begun } from './follow.ts';

export interface RerunPlan {
  readonly kind: RerunKind;
  readonly startOf: (failed: RunStart) => RunStart;
  /** The earliest time of the next delivery. */
  readonly notBefore: number;
}

/** DynamoDB rows have at most 400 KB. */
const largestRecord = 300 * 1_024;

/** At most this many, because each body may be in memory twice. */
const copiedAtOnce = 10;

interface RunCopy extends JournalRow {
  readonly record: StartRecord;
  readonly entries: readonly ListedEntry[];
}

/**
 * @param runId a new id, which contains the time of the run's start
 * @returns the run, with the snapshot after its last record
 */
export async function copyRun(
  account: Account,
  { start: failed, entries }: Pick<LoadedRun, 'start' | 'entries'>,
  runId: string,
  plan: RerunPlan,
): Promise<RunCopy> {
  const key: RunKey = { accountId: account.id, runId };
  const createdAt = timeOfId(runId);
  const notBefore = Math.max(createdAt, plan.notBefore);
  const start = plan.startOf(failed);
  const keptUntil = neededUntil(account, start.settings, notBefore) + spareMs;
  const copyOf = async (entry: ListedEntry, index: number): Promise<ListedEntry> => {
    const messageId = derivedId('msg', createdAt, `${runId}/${index}`);
    const owner = { accountId: account.id, messageId, expiresAt: keptUntil };
    const { body } = entry;
    return {
      ...entry,
      messageId,
      createdAt,
      notBefore,
      body:
        body.at === 'here' ? body : await storeEntryBody(owner, await loadBody(entry.messageId, body), now()),
    };
  };
  const recorded = plan.kind === 'restart' ? entries.slice(0, 1) : entries;
  const copies: ListedEntry[] = [];
  for (let at = 0; at < recorded.length; at += copiedAtOnce) {
    const some = recorded.slice(at, at + copiedAtOnce);
    copies.push(...(await Promise.all(some.map((entry, index) => copyOf(entry, at + index)))));
  }

  const [initial, ...steps] = copies;
  if (initial === undefined) throw new Error(`The run ${runId} would have no entries.`);
  const record: StartRecord = { kind: 'start', at: createdAt, start, entry: initial };
  const first: JournalRow = { record, snapshot: snapshotAfter(undefined, record, keptUntil) };
  const rows: JournalRow[] = [];
  let snapshot: Snapshot = first.snapshot;
  for (const some of weighedChunksOf(steps, largestRecord, entryBytes)) {
    const copy: StepsRecord = { kind: 'steps', at: createdAt, entries: some, isCopy: true };
    snapshot = snapshotAfter(snapshot, copy, keptUntil);
    rows.push({ record: copy, snapshot });
  }
  if (rows.length > 0) await putRecords(key, rows);
  // A run exists only if its start does, so the start is written last.
  await putRecords(key, [first]);
  return { record, snapshot, entries: copies };
}

/** Reads a run that {@link copyRun} made, with the snapshot after its start. */
async function readCopy(key: RunKey): Promise<RunCopy | undefined> {
  let start: (JournalRow & { readonly record: StartRecord }) | undefined;
  const entries: ListedEntry[] = [];
  for await (const { record, snapshot } of readJournal(key, 0)) {
    if (record.kind === 'start' && start === undefined) {
      start = { record, snapshot };
      entries.push(record.entry);
    } else if (record.kind === 'steps' && record.isCopy === true) entries.push(...record.entries);
    else break;
  }
  return start && { ...start, entries };
}

/** A process that takes longer for one run counts as dead. Another process may then claim its dead letter. */
export const rerunTimeoutMs = 12 * secondMs;

export function begunOf(account: Account, runId: string, { record, snapshot, entries }: RunCopy): Begun {
  // If the client has this feature, the run's settings apply to all steps.
  const settingsHold = record.start.features.includes('WF_TriggerOnConfig');
  const first = goingOnFrom(entries);
  return {
    key: { accountId: account.id, runId },
    snapshot,
    record,
    entries: settingsHold ? first.map((entry) => ({ ...entry, settings: undefined })) : first,
  };
}

export async function begunBefore(account: Account, runId: string): Promise<Begun | undefined> {
  const key = { accountId: account.id, runId };
  const [copy, snapshot] = await Promise.all([readCopy(key), loadSnapshot(key)]);
  if (copy === undefined || snapshot === undefined) throw new Error(`The run ${runId} is not there.`);
  if (snapshot.startSeq !== copy.snapshot.startSeq) return undefined;
  const begun = begunOf(account, runId, { ...copy, snapshot });
  return isActive(snapshot) ? begun : { ...begun, entries: [] };
}
