/** The queues' messages in the store, in the order of sending. */
import * as z from 'zod/mini';
import { jsonOrUndefined } from '../json.ts';
import { DamageError } from '../store/checksum.ts';
import type { Snapshot, Store } from '../store/store.ts';

const storedMessage = z.object({
  id: z.string(),
  body: z.string(),
  groupId: z.optional(z.string()),
  /** Times are in epoch milliseconds. */
  sentAt: z.number(),
  /** When the message can be received: at the end of its message timer. */
  availableAt: z.number(),
  receives: z.number(),
  firstReceivedAt: z.optional(z.number()),
  /** The queue that gave the message up, if it is in a dead letter queue. */
  deadLetterSource: z.optional(z.string()),
});
export type StoredMessage = z.infer<typeof storedMessage>;

export const queuedMessage = z.extend(storedMessage, { queue: z.string() });
type QueuedMessage = z.infer<typeof queuedMessage>;

/** All messages' keys begin with `first`. `behind` is the next byte. */
const first = Buffer.from('q');
const behind = Buffer.from('r');

export function messageKey({ id, sentAt }: Pick<StoredMessage, 'id' | 'sentAt'>): Buffer {
  const key = Buffer.allocUnsafe(9 + id.length);
  first.copy(key);
  key.writeDoubleBE(sentAt, 1);
  key.write(id, 9, 'latin1');
  return key;
}

export const toBytes = (message: QueuedMessage): Buffer => Buffer.from(JSON.stringify(message));

/** They were checked when sent, and have checksums. A start may read a million of them. */
const isQueued = (value: unknown): value is QueuedMessage =>
  typeof value === 'object' && value !== null && 'queue' in value && 'body' in value;

export function* storedMessages(store: Store, at?: Snapshot): Generator<QueuedMessage> {
  for (const { value } of store.range({ from: first, to: behind, at })) {
    const message = jsonOrUndefined(value.toString());
    if (!isQueued(message)) throw new DamageError('The store is damaged: a message of a queue is none.');
    yield message;
  }
}
