/** The queues' messages in the store, in the order in which they were sent. */
import * as z from 'zod/mini';
import { jsonOrUndefined } from '../json.ts';
import { DamageError } from '../store/checksum.ts';
import type { Snapshot, Store, Write } from '../store/store.ts';

const storedMessage = z.object({
  id: z.string(),
  body: z.string(),
  groupId: z.optional(z.string()),
  /** Times are. */
  sentAt: z.number(),
  /** When the message can be received. */
  availableAt: z.number(),
  receives: z.number(),
  firstReceivedAt: z.optional(z.number()),
  /** The queue from which the message was moved to a dead letter queue, if it was. */
  deadLetterSource: z.optional(z.string()),
});
export type StoredMessage = z.infer<typeof storedMessage>;

export const queuedMessage = z.extend(storedMessage, { queue: z.string() });
export type QueuedMessage = z.infer<typeof queuedMessage>;

/** The keys of all messages begin with `first`. `behind` is the next byte. */
const first = Buffer.from('q');
const behind = Buffer.from('r');

/**
 * Keys of owners from 1 on have this byte after `first`. Those of owner 0 have a time there, which begins
 * with a larger byte.
 */
const ownedMark = 1;
const leastOfTime = 0x40;

/** The number of a process that receives messages. It is 0 in a stage with one process. */
export type Owner = number;

function beginning(owner: Owner): Buffer {
  if (owner === 0) return first;
  const key = Buffer.alloc(6);
  first.copy(key);
  key[1] = ownedMark;
  key.writeUInt32BE(owner, 2);
  return key;
}

export function messageKey({ id, sentAt }: Pick<StoredMessage, 'id' | 'sentAt'>, owner: Owner = 0): Buffer {
  const before = beginning(owner);
  const key = Buffer.allocUnsafe(before.length + 8 + id.length);
  before.copy(key);
  key.writeDoubleBE(sentAt, before.length);
  key.write(id, before.length + 8, 'latin1');
  return key;
}

const rangeOf = (owner: Owner) =>
  owner === 0
    ? { from: Buffer.from([...first, leastOfTime]), to: behind }
    : { from: beginning(owner), to: beginning(owner + 1) };

/** The owners other than 0 that have messages in a store. */
export function ownersIn(store: Store): Owner[] {
  const owners: Owner[] = [];
  const to = Buffer.from([...first, ownedMark + 1]);
  for (;;) {
    const [key] = store.keys({ from: beginning((owners.at(-1) ?? 0) + 1), to });
    if (key === undefined) return owners;
    owners.push(key.readUInt32BE(2));
  }
}

export const toBytes = (message: QueuedMessage): Buffer => Buffer.from(JSON.stringify(message));

/**
 * Only a quick check: messages were validated when they were sent and have checksums, and a start may read a
 * million.
 */
const isQueued = (value: unknown): value is QueuedMessage =>
  typeof value === 'object' && value !== null && 'queue' in value && 'body' in value;

/** @param owner to read only its messages; undefined for all */
export function* storedMessages(store: Store, at?: Snapshot, owner?: Owner): Generator<QueuedMessage> {
  for (const { message } of storedMessageEntries(store, at, owner)) yield message;
}

export const messageKeys = { from: first, to: behind } as const;

export function* storedMessageEntries(store: Store, at?: Snapshot, owner?: Owner) {
  const range = owner === undefined ? messageKeys : rangeOf(owner);
  for (const { key, value } of store.range({ ...range, at })) yield { key, message: fromBytes(value) };
}

export function fromBytes(value: Buffer): QueuedMessage {
  const message = jsonOrUndefined(value.toString());
  if (!isQueued(message)) throw new DamageError('The store is damaged: a message of a queue cannot be read.');
  return message;
}

export function keepMessage(write: Write, queue: string, message: StoredMessage, owner: Owner): void {
  write(messageKey(message, owner), toBytes({ queue, ...message }));
}
