/** The records with which a run begins: its start, and the upgrade of one that an unknown client's endpoint answered. */
import type { Snapshot, ListedEntry, StartRecord, UpgradeRecord } from '../rules/journal.ts';
import { loadRecord, loadRow, type RunKey } from '../store/journals.ts';
import type { JournalRow } from '../store/rows.ts';

/** The start of a run, as its journal has it. */
export interface StartRow extends JournalRow {
  readonly record: StartRecord;
}

export const isStartRow = (row: JournalRow | undefined): row is StartRow => row?.record.kind === 'start';

/** @throws when it is not there */
export async function loadStart(key: RunKey, startSeq: number): Promise<StartRow> {
  const row = await loadRow(key, startSeq);
  if (!isStartRow(row)) throw new Error(`The start of the run ${key.runId} is not there.`);
  return row;
}

export const isUpgraded = ({ factsSeq, startSeq }: Snapshot): boolean => factsSeq > startSeq;

/** @throws when it is not there */
export async function loadUpgrade(key: RunKey, { factsSeq }: Snapshot): Promise<UpgradeRecord> {
  const record = await loadRecord(key, factsSeq);
  if (record?.kind !== 'upgrade') throw new Error(`The upgrade of the run ${key.runId} is not there.`);
  return record;
}

/** The entry that delivers the payload again, after the endpoint of an unknown client has answered. */
export const entryOfUpgrade = (entry: ListedEntry, { messageId, at }: UpgradeRecord): ListedEntry => ({
  ...entry,
  messageId,
  createdAt: at,
  notBefore: at,
});
