/**
 * Bodies of messages. Small ones stand in the message's row, compressed where that helps; larger ones are objects
 * in the bucket. DynamoDB bills a write by the kilobyte, S3 by the request: from about 9 KB on the bucket is the
 * cheaper place, and from 400 KB on the only one.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as z from 'zod/mini';
import { dayMs } from '../domain/clock.ts';
import { bodyLifetimesDays } from '../resources.ts';
import { settings } from '../settings.ts';

/** Binary attributes. */
export const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array);

/** A body as its message's row has it. */
export const storedBody = z.union([
  z.object({ form: z.literal('plain'), bytes }),
  z.object({ form: z.literal('deflated'), bytes }),
  z.object({ form: z.literal('object'), key: z.string() }),
]);
export type StoredBody = z.infer<typeof storedBody>;

/** The largest body, as stored, that a row holds. */
const largestInRow = 9 * 1024;
/** Rows are billed by the kilobyte, and a row without its body has about 400 bytes. */
const worthDeflating = 512;

async function openBucket() {
  const { GetObjectCommand, PutObjectCommand, S3Client } = await import('@aws-sdk/client-s3');
  const s3 = new S3Client({
    forcePathStyle: true,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 10_000 },
  });
  const Bucket = settings.bodiesBucket;
  return {
    put: (Key: string, Body: Uint8Array) => s3.send(new PutObjectCommand({ Bucket, Key, Body })),
    get: (Key: string) => s3.send(new GetObjectCommand({ Bucket, Key })),
  };
}

let opened: ReturnType<typeof openBucket> | undefined;

/** The S3 client is large and rarely needed, so it is loaded when the first large body comes. */
const bucket = (): ReturnType<typeof openBucket> => (opened ??= openBucket());

/** The object's key says how long it is kept: a lifecycle rule for each class ends what is older. */
function objectKey(accountId: string, messageId: string, lifetimeMs: number): string {
  const days = bodyLifetimesDays.find((known) => known * dayMs >= lifetimeMs);
  if (days === undefined) throw new Error(`No lifetime class holds a body for ${lifetimeMs} ms.`);
  return `${days}d/${accountId}/${messageId}`;
}

function inRow(body: Uint8Array): StoredBody | undefined {
  if (body.length > 8 * largestInRow) return undefined;
  const deflated = body.length > worthDeflating ? deflateRawSync(body) : body;
  if (deflated.length < body.length) {
    return deflated.length > largestInRow ? undefined : { form: 'deflated', bytes: deflated };
  }
  return body.length > largestInRow ? undefined : { form: 'plain', bytes: body };
}

/**
 * Puts a body where it belongs. An object that is never referred to ends with its class.
 *
 * @param lifetimeMs how long from now it will be needed
 */
export async function storeBody(
  accountId: string,
  messageId: string,
  body: Uint8Array,
  lifetimeMs: number,
): Promise<StoredBody> {
  const row = inRow(body);
  if (row !== undefined) return row;
  const key = objectKey(accountId, messageId, lifetimeMs);
  await (await bucket()).put(key, body);
  return { form: 'object', key };
}

export async function loadBody(stored: StoredBody): Promise<Uint8Array> {
  switch (stored.form) {
    case 'plain':
      return stored.bytes;
    case 'deflated':
      return inflateRawSync(stored.bytes);
    case 'object': {
      const object = await (await bucket()).get(stored.key);
      if (object.Body === undefined) throw new Error(`The body ${stored.key} has no content.`);
      return object.Body.transformToByteArray();
    }
  }
}
