import { now } from '../domain/clock.ts';
import { deduplicationKey, deduplicationWindowMs } from '../domain/deduplication.ts';
import type { Deduplication } from '../domain/options.ts';
import { claimKey } from '../stores/deduplication.ts';
import { loadMessage } from '../stores/messages.ts';
import { sendPointer } from '../transport/queue.ts';
import type { Draft } from './accept.ts';

/** What is to be done with a message that says by what it counts as the same as another. */
export interface Verdict {
  /** To be accepted, under this id; undefined when the first one is there already. */
  readonly draft: Draft | undefined;
  readonly messageId: string;
  readonly isDuplicate: boolean;
}

/**
 * Finds out whether a message was published before. The claim on its key is made before it is accepted, so the first
 * may have failed, or died, between: then its place is taken, under its own id, so that even if it is being accepted at
 * this very moment there is one message. Nothing is answered as a duplicate of what will not be delivered.
 */
export async function deduplicate(draft: Draft, deduplication: Deduplication | undefined): Promise<Verdict> {
  const { messageId, accountId } = draft.message;
  if (deduplication === undefined) return { draft, messageId, isDuplicate: false };

  const key = deduplicationKey(deduplication, draft.message, draft.body);
  let rejected: string | undefined;
  for (;;) {
    const time = now();
    const until = time + deduplicationWindowMs;
    const first = await claimKey({ key, messageId, now: time, until, replaces: rejected });
    if (first === messageId) return { draft, messageId, isDuplicate: false };

    const history = await loadMessage({ accountId, messageId: first });
    if (history === undefined) {
      const inItsPlace = { ...draft, message: { ...draft.message, messageId: first } };
      return { draft: inItsPlace, messageId: first, isDuplicate: true };
    }
    if (history.end !== 'REJECTED') {
      // Its row is there, but its publisher may have died before it sent the pointer. One more does no harm.
      if (history.attempts.length === 0) await sendPointer(history.message, 0, history.message.notBefore);
      return { draft: undefined, messageId: first, isDuplicate: true };
    }
    // Its publisher was told that it was not accepted: it is no first, and whoever claims the key next is.
    rejected = first;
  }
}
