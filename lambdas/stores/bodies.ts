/**
 * Bodies of messages. The smallest stand in the message's row, compressed where that helps; larger ones have a row of
 * their own, so that lists do not read them; still larger ones are objects in the bucket. DynamoDB bills a write by the
 * kilobyte, S3 by the request: from about 9 KB on the bucket is the cheaper place, and from 400 KB on the only one.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as z from 'zod/mini';
import { dayMs } from '../domain/clock.ts';
import { epochSeconds } from '../domain/message.ts';
import { bodyLifetimesDays } from '../resources.ts';
import { settings } from '../settings.ts';
import type { Bucket } from './bucket.ts';
import { deleteRow, getRow, putAll } from './dynamodb.ts';

/** Binary attributes. */
export const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array);

/** A body as its message's row has it: itself, or where it is. */
export const storedBody = z.union([
  z.object({ at: z.literal('here'), bytes, deflated: z.boolean() }),
  z.object({ at: z.literal('row'), deflated: z.boolean() }),
  z.object({ at: z.literal('bucket'), key: z.string() }),
]);
export type StoredBody = z.infer<typeof storedBody>;

/** The largest body, as stored, that stands in its message's row. */
const largestHere = 1_024;
/** The largest, as stored, that has a row of its own. */
const largestRow = 9 * 1_024;
/** Below this a message's row has room in its first kilobyte anyway. */
const worthDeflating = 512;
/** What is larger than this is not compressed on trial. */
const largestTried = 8 * largestRow;

let opened: Promise<Bucket> | undefined;

/** The S3 client is large and rarely needed, so it is loaded when the first large body comes. */
const bucket = (): Promise<Bucket> => (opened ??= openBucket());

async function openBucket(): Promise<Bucket> {
  const module = await import('./bucket.ts');
  return module.openBucket(settings.bodiesBucket);
}

/** The object's key says how long it is kept: a lifecycle rule for each class ends what is older. */
function objectKey(messageId: string, accountId: string, lifetimeMs: number): string {
  if (lifetimeMs === Infinity) return `kept/${accountId}/${messageId}`;
  const days = bodyLifetimesDays.find((known) => known * dayMs >= lifetimeMs);
  if (days === undefined) throw new Error(`No lifetime class holds a body for ${lifetimeMs} ms.`);
  return `${days}d/${accountId}/${messageId}`;
}

function packed(body: Uint8Array): { readonly bytes: Uint8Array; readonly deflated: boolean } {
  if (body.length > worthDeflating && body.length <= largestTried) {
    const deflated = deflateRawSync(body);
    if (deflated.length < body.length) return { bytes: deflated, deflated: true };
  }
  return { bytes: body, deflated: false };
}

/** A body's own row stands in a partition of its own, apart from what lists read. */
const rowKey = (messageId: string): { readonly shard: string; readonly id: string } => ({
  shard: `body#${messageId}`,
  id: messageId,
});

/**
 * Puts a body where it belongs. What is stored and never referred to ends by itself.
 *
 * @param now Unix milliseconds
 * @param expiresAt Unix milliseconds after which nobody needs it; Infinity for what is kept until it is deleted
 */
export async function storeBody(
  { accountId, messageId, expiresAt }: { accountId: string; messageId: string; expiresAt: number },
  body: Uint8Array,
  now: number,
): Promise<StoredBody> {
  const pack = packed(body);
  if (pack.bytes.length <= largestHere) return { at: 'here', ...pack };
  if (pack.bytes.length <= largestRow) {
    const ttl = expiresAt === Infinity ? undefined : epochSeconds(expiresAt);
    const row = { ...rowKey(messageId), bytes: pack.bytes, expiresAt: ttl };
    await putAll(settings.messagesTable, [row]);
    return { at: 'row', deflated: pack.deflated };
  }
  const key = objectKey(messageId, accountId, expiresAt - now);
  await (await bucket()).put(key, body);
  return { at: 'bucket', key };
}

const unpack = (packedBytes: Uint8Array, deflated: boolean): Uint8Array =>
  deflated ? inflateRawSync(packedBytes) : packedBytes;

/** @throws when it is not where it was stored */
export async function loadBody(messageId: string, stored: StoredBody): Promise<Uint8Array> {
  switch (stored.at) {
    case 'here':
      return unpack(stored.bytes, stored.deflated);
    case 'row': {
      const row = await getRow(settings.messagesTable, rowKey(messageId), true);
      if (row === undefined) throw new Error(`The body of ${messageId} is not there.`);
      return unpack(bytes.parse(row['bytes']), stored.deflated);
    }
    case 'bucket': {
      const object = await (await bucket()).get(stored.key);
      if (object.Body === undefined) throw new Error(`The body ${stored.key} has no content.`);
      return object.Body.transformToByteArray();
    }
  }
}

/**
 * Keeps a body for longer than it was stored for.
 *
 * @param now Unix milliseconds
 * @returns where it is from now on
 */
export async function prolongBody(
  message: { accountId: string; messageId: string; expiresAt: number },
  stored: StoredBody,
  now: number,
): Promise<StoredBody> {
  if (stored.at === 'here') return stored;
  const body = await loadBody(message.messageId, stored);
  // A row is written over; an object is written anew, under a key that is kept for longer.
  return storeBody(message, body, now);
}

/** Deletes a body that was to be kept. */
export async function deleteBody(messageId: string, stored: StoredBody): Promise<void> {
  switch (stored.at) {
    case 'here':
      return;
    case 'row':
      await deleteRow(settings.messagesTable, rowKey(messageId));
      return;
    case 'bucket':
      await (await bucket()).delete(stored.key);
  }
}
