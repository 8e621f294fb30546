/** A run as its deliveries need it: its facts, what is true of it, and its list. */
import { entriesOf, type Snapshot, type ListedEntry, type RunStart } from '../rules/journal.ts';
import type { RunKey } from '../store/journals.ts';
import { loadRunJournal } from './runJournal.ts';

export interface LoadedRun {
  readonly key: RunKey;
  readonly start: RunStart;
  readonly head: Snapshot;
  /** The initial payload first; without the bodies that are in the bucket. */
  readonly entries: readonly ListedEntry[];
  /** Messages that deliver the payload once more, after the endpoint of an unknown client has answered. */
  readonly upgrades: readonly string[];
}

/**
 * Reads a run, strongly consistent.
 *
 * @param startSeq the place of its start in the journal of its id
 * @returns undefined when it is not there any more
 */
export async function loadRun(key: RunKey, startSeq: number): Promise<LoadedRun | undefined> {
  const journal = await loadRunJournal(key, startSeq);
  if (journal === undefined) return undefined;
  const { start, head, records } = journal;
  return {
    key,
    start,
    head,
    entries: records.flatMap(entriesOf),
    upgrades: records.flatMap((record) => (record.kind === 'upgrade' ? [record.messageId] : [])),
  };
}
