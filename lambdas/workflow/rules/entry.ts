import type { StoredBody } from '../../message/message.ts';
import type { JournalRecord, ListedEntry } from './journal.ts';

/** An entry in the list of a delivery. The first is the initial payload; the others are steps as JSON. */
export interface Entry {
  readonly messageId: string;
  readonly body: Uint8Array;
}

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

export interface PlacedBody {
  readonly messageId: string;
  readonly body: StoredBody;
  readonly path: readonly (string | number)[];
}

export function bodiesOf(record: JournalRecord): readonly PlacedBody[] {
  switch (record.kind) {
    case 'start':
    case 'lateResult':
      return [{ ...record.entry, path: ['entry', 'body'] }];
    case 'steps':
      return record.entries.map((entry, index) => ({ ...entry, path: ['entries', index, 'body'] }));
    case 'event':
      return [{ ...record, path: ['body'] }];
    case 'end': {
      const { response: body, responseId: messageId } = record;
      return body && messageId !== undefined ? [{ messageId, body, path: ['response'] }] : [];
    }
    default:
      return [];
  }
}
