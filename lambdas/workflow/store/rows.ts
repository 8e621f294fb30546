import * as z from 'zod/mini';
import { recordShape, snapshotShape, type JournalRecord, type Snapshot } from '../rules/journal.ts';

export interface JournalRow {
  readonly record: JournalRecord;
  readonly snapshot: Snapshot;
}

const headShape = z.object({ head: snapshotShape });
const rowShape = z.object({ record: recordShape, head: snapshotShape });

/** @throws if the attributes are not a record */
export const journalRowOf = (attributes: unknown): JournalRow => {
  const { record, head } = rowShape.parse(attributes);
  return { record, snapshot: head };
};

export const snapshotOf = (attributes: unknown): Snapshot => headShape.parse(attributes).head;
