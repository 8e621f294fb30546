/**
 * Stores bodies: up to 1 KB in the message's row, compressed if that helps; up to 9 KB in a separate row,
 * which lists do not read; larger bodies in the bucket. DynamoDB bills writes by the kilobyte, S3 by the
 * request. S3 is cheaper from about 9 KB, and necessary from 400 KB.
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
import { getRow, getRows, putAll } from '../aws/dynamodb.ts';
import type { StoredBody } from './message.ts';
import { bytes } from '../table/attributes.ts';
import { remove } from '../aws/writes.ts';

/** The largest stored body in its message's row, in bytes. A larger one would cost a second write unit. */
const largestHere = 1_024;
export const largestRow = 9 * 1_024;
/** A body of at most this many bytes fits into the first kilobyte of its row without compression. */
const worthDeflating = 512;
/** Above these bytes, compression would hardly make a body fit into a row. */
const largestTried = 8 * largestRow;

let opened: Promise<BodyBucket> | undefined;

/** The large S3 client is rarely needed, so it is loaded on first use. */
const bucket = (): Promise<BodyBucket> => (opened ??= openBucket());

async function openBucket(): Promise<BodyBucket> {
  const module = await import('./store/bucket.ts');
  return module.openBucket(settings.bodiesBucket, prepareClient);
}

/** The key of an object that has no lifecycle rule, and is kept until it is deleted. */
const keptKey = (messageId: string, accountId: string): string => `kept/${accountId}/${messageId}`;

/** An object's key begins with its lifetime in days, for lifecycle rules. */
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

/** A body's row is in a separate partition, which lists do not read. */
const rowKey = (messageId: string): { readonly shard: string; readonly id: string } => ({
  shard: `body#${messageId}`,
  id: messageId,
});

/**
 * @param expiresAt Unix milliseconds; Infinity to keep the body until it is deleted
 * @param mostHere the largest stored body that stays in its message's row, in bytes
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

/** The most bytes that loading a body can take. Only bodies in the bucket are very large. */
export const mostBytesOf = ({ at }: StoredBody): number =>
  at === 'bucket' ? limitTable.max_message_size.most : largestTried;

/** @throws if the body is missing */
export async function loadBody(messageId: string, stored: StoredBody): Promise<Uint8Array> {
  switch (stored.at) {
    case 'here':
      return unpack(stored.bytes, stored.deflated);
    case 'row': {
      const row = await getRow(settings.messagesTable, rowKey(stored.id ?? messageId), true);
      if (row === undefined) throw new Error(`The body of ${messageId} is missing.`);
      return unpack(bytes.parse(row['bytes']), stored.deflated);
    }
    case 'bucket':
      return (await bucket()).get(stored.key);
  }
}

const objectsAtOnce = 8;

/**
 * Reads many bodies; expired ones are left out.
 *
 * @param stored by message id
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

/** @returns the body's new place */
export async function extendBody(
  message: { accountId: string; messageId: string; expiresAt: number },
  stored: StoredBody,
  now: number,
): Promise<StoredBody> {
  if (stored.at === 'here') return stored;
  const body = await loadBody(message.messageId, stored);
  // Stored again: a row is overwritten, and an object gets a key with a longer lifetime.
  return storeBody(message, body, now);
}

/** Deletes a body that was stored without expiry. */
export async function deleteBody(messageId: string, stored: StoredBody): Promise<void> {
  switch (stored.at) {
    case 'here':
      return;
    case 'row':
      await remove(settings.messagesTable, rowKey(stored.id ?? messageId));
      return;
    case 'bucket':
      await (await bucket()).delete(stored.key);
  }
}

/** Deletes a body that no row refers to, so that its place is unknown. */
export async function deleteLostBody(messageId: string, accountId: string): Promise<void> {
  await remove(settings.messagesTable, rowKey(messageId));
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
