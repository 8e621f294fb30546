/** Finds the message that tells of a run's failure: the one of its end, or of the last time that it was sent again. */
import type { JournalRecord } from '../rules/journal.ts';
import { loadSnapshot, loadRecord, readJournal, type RunKey } from '../store/journals.ts';

/** @returns undefined for a record that says nothing of it */
function requestIn(
  record: JournalRecord | undefined,
): { readonly messageId?: string | undefined } | undefined {
  if (record?.kind === 'end') return { messageId: record.failure?.requestId };
  return record?.kind === 'failureFunction' ? { messageId: record.messageId } : undefined;
}

/**
 * Finds the id of the last failure request of a run that has failed.
 *
 * @param startSeq the place of its start in the journal of its id
 * @returns undefined where nobody is told, or the journal is not there any more
 */
export async function failureRequestIdOf(key: RunKey, startSeq: number): Promise<string | undefined> {
  const head = await loadSnapshot(key);
  if (head?.startSeq === startSeq) {
    // Behind the end of a run there are few records: late results of invokes.
    for (let { seq } = head; seq > startSeq; seq -= 1) {
      const found = requestIn(await loadRecord(key, seq));
      if (found !== undefined) return found.messageId;
    }
    return undefined;
  }
  // The id has had another run since.
  let messageId: string | undefined;
  for await (const { record, head: at } of readJournal(key, startSeq)) {
    if (at.startSeq !== startSeq) break;
    messageId = requestIn(record)?.messageId ?? messageId;
  }
  return messageId;
}
