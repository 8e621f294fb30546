/** The entries of a run, in the order in which they were accepted. */
import type { CallType } from '../../wire/states.ts';
import type { JournalRecord, ListedEntry } from './journal.ts';

/** An accepted message of a run. The first is the initial payload; each later one of the type `step` is a step in JSON. */
export interface Entry {
  readonly messageId: string;
  readonly body: Uint8Array;
  readonly callType: CallType;
}

/** Picks the entries of a list. The client reads steps by their places: only the initial payload and steps may have one. */
export const listed = (entries: readonly Entry[]): readonly Entry[] =>
  entries.filter(({ callType }, index) => index === 0 || callType === 'step');

/** The entries that a record adds to the list of a delivery. */
export const entriesOf = (record: JournalRecord): readonly ListedEntry[] => {
  switch (record.kind) {
    case 'start':
      return [record.entry];
    case 'steps':
      return record.entries;
    default:
      return [];
  }
};
