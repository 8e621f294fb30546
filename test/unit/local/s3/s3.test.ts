import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterEach, describe, expect, test } from 'vitest';
import { objectKeys, objectsIn, type Objects } from '../../../../local/s3/objects.ts';
import { startS3 } from '../../../../local/s3/s3.ts';
import { Store } from '../../../../local/store/store.ts';
import { nextStore } from '../../../support/nextStore.ts';

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
});

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-s3-'));
  endings.push(() => rm(folder, { recursive: true }));
  return folder;
}

async function start(objects: Objects) {
  const failures: unknown[] = [];
  const report = (error: unknown): void => void failures.push(error);
  const s3 = await startS3({ bucket: 'bodies', objects, now: Date.now, report });
  const client = new S3Client({
    endpoint: s3.url,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
    maxAttempts: 1,
  });
  endings.push(async () => {
    client.destroy();
    await s3.close();
    expect(failures).toEqual([]);
  });
  return { client, url: s3.url };
}

const Bucket = 'bodies';
const Key = '16d/local/msg_ü 1';

async function get(client: S3Client): Promise<Buffer> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
  if (Body === undefined) throw new Error('no body');
  return Buffer.from(await Body.transformToByteArray());
}

const inMemory = (): Objects => objectsIn(new Store(undefined), Date.now);

describe('an object', () => {
  test('is read back byte for byte', async () => {
    const { client } = await start(inMemory());
    const Body = randomBytes(5_000_000);
    await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentType: 'image/png' }));
    expect((await get(client)).equals(Body)).toBe(true);
    const head = await client.send(new HeadObjectCommand({ Bucket, Key }));
    expect(head).toMatchObject({ ContentLength: 5_000_000, ContentType: 'image/png' });
  });

  test('is refused as a stream, which the service never sends', async () => {
    const { client } = await start(inMemory());
    const Body = Readable.from([randomBytes(100_000)]);
    const put = client.send(new PutObjectCommand({ Bucket, Key, Body, ContentLength: 100_000 }));
    await expect(put).rejects.toMatchObject({ name: 'NotImplemented' });
    await expect(get(client)).rejects.toMatchObject({ name: 'NoSuchKey' });
  });

  test('may be empty, is replaced whole, and can be deleted repeatedly', async () => {
    const { client } = await start(inMemory());
    for (const Body of [Buffer.from('first'), Buffer.alloc(0)])
      await client.send(new PutObjectCommand({ Bucket, Key, Body }));
    expect((await get(client)).length).toBe(0);
    for (let count = 0; count < 2; count++) await client.send(new DeleteObjectCommand({ Bucket, Key }));
    await expect(get(client)).rejects.toMatchObject({ name: 'NoSuchKey' });
    await expect(client.send(new HeadObjectCommand({ Bucket, Key }))).rejects.toMatchObject({
      name: 'NotFound',
    });
  });

  test('with a wrong checksum is refused', async () => {
    const { client } = await start(inMemory());
    const put = new PutObjectCommand({ Bucket, Key, Body: 'x', ChecksumCRC32: 'AAAAAA==' });
    await expect(client.send(put)).rejects.toMatchObject({ name: 'BadDigest' });
    await expect(get(client)).rejects.toMatchObject({ name: 'NoSuchKey' });
  });
});

describe('the objects of a store', () => {
  test('are kept after a restart, and take only the room that they need', async () => {
    const folder = await temporaryFolder();
    const store = nextStore(folder);
    const { client } = await start(objectsIn(store, Date.now));
    for (const Body of [randomBytes(300_000), 'kept']) {
      await client.send(new PutObjectCommand({ Bucket, Key, Body }));
    }
    const entries = [...store.keys({ from: Buffer.from('o'), to: Buffer.from('p') })];
    expect(entries).toHaveLength(2);
    const again = await start(objectsIn(nextStore(folder), Date.now));
    expect((await get(again.client)).toString()).toBe('kept');
  });

  test('are deleted at the end of their age class', async () => {
    const store = new Store(undefined);
    const objects = objectsIn(store, Date.now);
    const daysAgo = (days: number): number => Date.now() - days * 86_400_000;
    for (const [key, days] of [
      ['16d/old', 17],
      ['16d/young', 15],
      ['512d/old', 400],
    ] as const) {
      await objects.put(key, { body: randomBytes(200_000), contentType: 'a/b', modifiedAt: daysAgo(days) });
    }
    await objects.expire();
    expect([...objectKeys(store)]).toEqual(['16d/young', '512d/old']);
  });
});
