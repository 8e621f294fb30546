/** The bodies that records of a journal have. */
import type { StoredBody } from '../../message/bodies.ts';
import type { JournalRecord } from './journal.ts';

/** A body that a record has, and its path within the record's attributes. */
export interface PlacedBody {
  readonly messageId: string;
  readonly body: StoredBody;
  readonly path: readonly (string | number)[];
}

/** Finds the bodies that a record has: they are kept as long as the record. */
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
