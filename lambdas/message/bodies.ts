/**
 * Bodies of messages. Up to 1 KB they are part of the message's row, compressed where that helps; up to 9 KB they have a row
 * of their own, so that lists do not read them; larger ones are objects in the bucket. DynamoDB bills a write by the
 * kilobyte, S3 by the request: from about 9 KB on the bucket is cheaper, and from 400 KB on the only place.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as z from 'zod/mini';
import { limitsOf, type Account } from '../account/account.ts';
import { HttpError } from '../error/httpError.ts';
import { prepareClient } from '../aws/functionClient.ts';
import { dayMs, epochSeconds } from '../shared/clock.ts';
import { limitTable } from '../value/limits.ts';
import { bodyLifetimesDays } from '../aws/resources.ts';
import { settings } from '../aws/settings.ts';
import type { BodyBucket } from './store/bucket.ts';
import { eachOf } from '../shared/lists.ts';
import { deleteRow, getRow, getRows, putAll } from '../aws/dynamodb.ts';
import { bytes } from '../table/attributes.ts';

/** A body as a row has it: its bytes, or the place where they are. */
export type StoredBody =
  | { readonly at: 'here'; readonly bytes: Uint8Array; readonly deflated: boolean }
  /** `id` is that of the body's row; the message's own where it is undefined. */
  | { readonly at: 'row'; readonly deflated: boolean; readonly id?: string | undefined }
  | { readonly at: 'bucket'; readonly key: string };

/** The shape of a {@link StoredBody}. */
export const storedBody = z.union([
  z.object({ at: z.literal('here'), bytes, deflated: z.boolean() }),
  z.object({ at: z.literal('row'), deflated: z.boolean(), id: z.optional(z.string()) }),
  z.object({ at: z.literal('bucket'), key: z.string() }),
]);

/** Bytes of the largest body, as stored, that is part of its message's row: more would cost a second write unit. */
const largestHere = 1_024;
/** Bytes of the largest body, as stored, that has a row of its own: from here on S3 is cheaper. */
export const largestRow = 9 * 1_024;
/** Bytes up to which a body fits into its row's first kilobyte without compression. */
const worthDeflating = 512;
/** Bytes above which no body is compressed: it would hardly fit into a row, and trying takes time. */
const largestTried = 8 * largestRow;

let opened: Promise<BodyBucket> | undefined;

/** The S3 client is large and rarely needed, so it is loaded when the first large body comes. */
const bucket = (): Promise<BodyBucket> => (opened ??= openBucket());

async function openBucket(): Promise<BodyBucket> {
  const module = await import('./store/bucket.ts');
  return module.openBucket(settings.bodiesBucket, prepareClient);
}

/** The key of an object that is kept until it is deleted: no lifecycle rule is for `kept/`. */
const keptKey = (messageId: string, accountId: string): string => `kept/${accountId}/${messageId}`;

/** Makes an object's key, which begins with how long it is kept: a lifecycle rule for each class deletes older objects. */
function objectKey(messageId: string, accountId: string, lifetimeMs: number): string {
  if (lifetimeMs === Infinity) return keptKey(messageId, accountId);
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

/** The key of a body's own row: in a partition of its own, which lists do not read. */
const rowKey = (messageId: string): { readonly shard: string; readonly id: string } => ({
  shard: `body#${messageId}`,
  id: messageId,
});

/**
 * Stores a body in the place for its size. One whose message is never stored expires by itself.
 *
 * @param now Unix milliseconds
 * @param expiresAt Unix milliseconds after which it is not needed; Infinity for a body that stays until it is deleted
 * @param mostHere bytes of the largest body, as stored, that becomes part of the row it belongs to
 */
export async function storeBody(
  { accountId, messageId, expiresAt }: { accountId: string; messageId: string; expiresAt: number },
  body: Uint8Array,
  now: number,
  mostHere = largestHere,
): Promise<StoredBody> {
  const pack = packed(body);
  if (pack.bytes.length <= mostHere) return { at: 'here', ...pack };
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

/** The bytes that a body has at most once it is loaded, judged by its place: only the bucket has very large ones. */
export const mostBytesOf = ({ at }: StoredBody): number =>
  at === 'bucket' ? limitTable.max_message_size.most : largestTried;

/** Reads a body. @throws when it is not where it was stored */
export async function loadBody(messageId: string, stored: StoredBody): Promise<Uint8Array> {
  switch (stored.at) {
    case 'here':
      return unpack(stored.bytes, stored.deflated);
    case 'row': {
      const row = await getRow(settings.messagesTable, rowKey(stored.id ?? messageId), true);
      if (row === undefined) throw new Error(`The body of ${messageId} is not there.`);
      return unpack(bytes.parse(row['bytes']), stored.deflated);
    }
    case 'bucket':
      return (await bucket()).get(stored.key);
  }
}

/** Objects of the bucket that are in memory at once. */
const objectsAtOnce = 8;

/**
 * Reads the bodies of many messages. One that is not kept any more is left out.
 *
 * @param stored by the ids of messages
 * @param use gets each body
 */
export async function eachBody(
  stored: ReadonlyMap<string, StoredBody>,
  use: (messageId: string, body: Uint8Array) => void,
): Promise<void> {
  const inRows = new Map<string, { readonly messageId: string; readonly deflated: boolean }>();
  const inBucket: { readonly messageId: string; readonly key: string }[] = [];
  for (const [messageId, body] of stored) {
    if (body.at === 'here') use(messageId, unpack(body.bytes, body.deflated));
    else if (body.at === 'row') inRows.set(body.id ?? messageId, { messageId, deflated: body.deflated });
    else inBucket.push({ messageId, key: body.key });
  }
  const bodyRow = z.object({ id: z.string(), bytes });
  const rows = await getRows(settings.messagesTable, [...inRows.keys()].map(rowKey), {});
  for (const row of rows) {
    const { id, bytes: packedBytes } = bodyRow.parse(row);
    const { messageId = id, deflated = false } = inRows.get(id) ?? {};
    use(messageId, unpack(packedBytes, deflated));
  }
  await eachOf(inBucket, objectsAtOnce, async ({ messageId, key }) => {
    use(messageId, await (await bucket()).get(key));
  });
}

/**
 * Extends the lifetime of a body.
 *
 * @param now Unix milliseconds
 * @returns its place from now on
 */
export async function extendBody(
  message: { accountId: string; messageId: string; expiresAt: number },
  stored: StoredBody,
  now: number,
): Promise<StoredBody> {
  if (stored.at === 'here') return stored;
  const body = await loadBody(message.messageId, stored);
  // A row is overwritten; an object is written again under a key of a longer class.
  return storeBody(message, body, now);
}

/** Deletes a body that was stored without an end. */
export async function deleteBody(messageId: string, stored: StoredBody): Promise<void> {
  switch (stored.at) {
    case 'here':
      return;
    case 'row':
      await deleteRow(settings.messagesTable, rowKey(stored.id ?? messageId));
      return;
    case 'bucket':
      await (await bucket()).delete(stored.key);
  }
}

/** Deletes a body that was stored without an end, and whose place is unknown, because nothing refers to it. */
export async function deleteLostBody(messageId: string, accountId: string): Promise<void> {
  await deleteRow(settings.messagesTable, rowKey(messageId));
  await (await bucket()).delete(keptKey(messageId, accountId));
}

/** @throws HttpError 413 for a body above the account's limit */
export function checkBodySize(account: Account, body: Uint8Array): void {
  const most = limitsOf(account).max_message_size;
  if (body.length <= most) return;
  throw new HttpError(
    413,
    'body_too_large',
    `The body has ${body.length} bytes, but the account's limit max_message_size is ${most} bytes.`,
  );
}
