/** Reads the journal of one run. */
import type { Snapshot, JournalRecord, RunStart, StartRecord } from '../rules/journal.ts';
import { readJournal, type RunKey } from '../store/journals.ts';

/** All that happened to a run. */
export interface RunJournal {
  readonly key: RunKey;
  /** Its facts: those of its upgrade, where it has one. */
  readonly start: RunStart;
  /** True after the last of its records. */
  readonly head: Snapshot;
  /** In order; the first is its start. */
  readonly records: readonly [StartRecord, ...JournalRecord[]];
}

/**
 * Reads the journal of a run, strongly consistent.
 *
 * @param startSeq the place of the run's start: an id may have had runs before and after it
 * @returns undefined where there is no run, or where it is not kept any more
 */
export async function loadRunJournal(key: RunKey, startSeq: number): Promise<RunJournal | undefined> {
  let first: StartRecord | undefined;
  let start: RunStart | undefined;
  let head: Snapshot | undefined;
  const following: JournalRecord[] = [];
  for await (const row of readJournal(key, startSeq)) {
    const { record } = row;
    if (record.kind === 'start') {
      if (row.head.seq !== startSeq) break;
      first = record;
    } else following.push(record);
    if ('start' in record) start = record.start;
    head = row.head;
  }
  // The rows of a run that is not kept any more may be removed in any order.
  if (first === undefined || start === undefined || head === undefined) return undefined;
  return { key, start, head, records: [first, ...following] };
}
