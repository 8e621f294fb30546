/** The journal of the queues: all messages that they must not lose. */
import * as z from 'zod/mini';
import { nowhere, openAppendOnly, readEntries, type AppendOnly } from '../journal/appendOnly.ts';

const storedMessage = z.object({
  id: z.string(),
  body: z.string(),
  groupId: z.optional(z.string()),
  /** All times are in epoch milliseconds. */
  sentAt: z.number(),
  /** The moment from which it can be received: the end of its message timer. */
  availableAt: z.number(),
  receives: z.number(),
  firstReceivedAt: z.optional(z.number()),
  /** The queue that gave a message up, for a message in a dead letter queue. */
  deadLetterSource: z.optional(z.string()),
});
export type StoredMessage = z.infer<typeof storedMessage>;

const entry = z.discriminatedUnion('op', [
  z.object({ op: z.literal('keep'), queue: z.string(), message: storedMessage }),
  z.object({ op: z.literal('receive'), id: z.string(), at: z.number() }),
  z.object({ op: z.literal('move'), id: z.string(), queue: z.string(), at: z.number() }),
  z.object({ op: z.literal('delete'), ids: z.array(z.string()) }),
  z.object({ op: z.literal('purge'), queue: z.string() }),
]);
export type QueueEntry = z.infer<typeof entry>;

/** Messages by their ids, each with the queue that it is in. */
export type Kept = Map<string, { readonly queue: string; readonly message: StoredMessage }>;

export interface QueueJournal {
  /** The messages that were kept when the journal was opened. */
  readonly kept: Kept;
  readonly file: AppendOnly<QueueEntry>;
}

/** A journal of a stage that keeps nothing. */
export const noQueueJournal: QueueJournal = { kept: new Map(), file: nowhere };

/**
 * Reads the journal, and rewrites it so that it has only the messages that are kept.
 *
 * @param lacksEntries called before it is rewritten, where messages may be missing
 */
export function openQueueJournal(path: string, lacksEntries = (): void => undefined): QueueJournal {
  const kept: Kept = new Map();
  for (const change of readEntries(path, entry, lacksEntries)) apply(kept, change);
  const live = [...kept.values()].map(({ queue, message }): QueueEntry => ({ op: 'keep', queue, message }));
  return { kept, file: openAppendOnly(path, live) };
}

/** Applies an entry again. An entry about a deleted message changes nothing. */
function apply(kept: Kept, change: QueueEntry): void {
  switch (change.op) {
    case 'keep':
      kept.set(change.message.id, { queue: change.queue, message: change.message });
      return;
    case 'receive': {
      const found = kept.get(change.id);
      if (found === undefined) return;
      found.message.receives += 1;
      found.message.firstReceivedAt ??= change.at;
      return;
    }
    case 'move': {
      const found = kept.get(change.id);
      if (found === undefined) return;
      const message = { ...found.message, availableAt: change.at, deadLetterSource: found.queue };
      kept.set(change.id, { queue: change.queue, message });
      return;
    }
    case 'delete':
      for (const id of change.ids) kept.delete(id);
      return;
    case 'purge':
      for (const [id, { queue }] of kept) if (queue === change.queue) kept.delete(id);
  }
}
