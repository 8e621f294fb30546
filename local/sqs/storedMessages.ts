/** The messages of the queues in the store. They are in the order in which they were sent. */
import * as z from 'zod/mini';
import { jsonOrUndefined } from '../json.ts';
import { DamageError } from '../store/checksum.ts';
import type { Snapshot, Store } from '../store/store.ts';

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

/** A message with the queue that it is in. */
export const queuedMessage = z.extend(storedMessage, { queue: z.string() });
export type QueuedMessage = z.infer<typeof queuedMessage>;

/** The first byte of the keys of all messages, and the byte behind it. */
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

/** They were checked when they were sent, and have checksums: there may be a million at a start. */
const isQueued = (value: unknown): value is QueuedMessage =>
  typeof value === 'object' && value !== null && 'queue' in value && 'body' in value;

/** @param at reads as of that moment */
export function* storedMessages(store: Store, at?: Snapshot): Generator<QueuedMessage> {
  for (const { value } of store.range({ from: first, to: behind, at })) {
    const message = jsonOrUndefined(value.toString());
    if (!isQueued(message)) throw new DamageError('The store is damaged: a message of a queue is none.');
    yield message;
  }
}
