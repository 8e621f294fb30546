import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
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
import { objectsIn, objectsInMemory, type Objects } from '../../../../local/s3/objects.ts';
import { startS3 } from '../../../../local/s3/s3.ts';

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

describe.each([
  ['in files', async () => objectsIn(await temporaryFolder(), Date.now)],
  ['in memory', () => Promise.resolve(objectsInMemory())],
])('an object %s', (_, objects) => {
  test('comes back byte for byte', async () => {
    const { client } = await start(await objects());
    const Body = randomBytes(5_000_000);
    await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentType: 'image/png' }));
    expect((await get(client)).equals(Body)).toBe(true);
    const head = await client.send(new HeadObjectCommand({ Bucket, Key }));
    expect(head).toMatchObject({ ContentLength: 5_000_000, ContentType: 'image/png' });
  });

  test('is refused as a stream, which the service sends none of', async () => {
    const { client } = await start(await objects());
    const Body = Readable.from([randomBytes(100_000)]);
    const put = client.send(new PutObjectCommand({ Bucket, Key, Body, ContentLength: 100_000 }));
    await expect(put).rejects.toMatchObject({ name: 'NotImplemented' });
    await expect(get(client)).rejects.toMatchObject({ name: 'NoSuchKey' });
  });

  test('may be empty, is replaced whole, and can be deleted, more than once', async () => {
    const { client } = await start(await objects());
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
    const { client } = await start(await objects());
    const put = new PutObjectCommand({ Bucket, Key, Body: 'x', ChecksumCRC32: 'AAAAAA==' });
    await expect(client.send(put)).rejects.toMatchObject({ name: 'BadDigest' });
    await expect(get(client)).rejects.toMatchObject({ name: 'NoSuchKey' });
  });

  test('in another bucket is not found', async () => {
    const { client } = await start(await objects());
    const put = new PutObjectCommand({ Bucket: 'other', Key, Body: 'x' });
    await expect(client.send(put)).rejects.toMatchObject({ name: 'NoSuchBucket' });
  });
});

describe('the folder of objects', () => {
  test('is there after a restart', async () => {
    const folder = await temporaryFolder();
    const { client } = await start(await objectsIn(folder, Date.now));
    await client.send(new PutObjectCommand({ Bucket, Key, Body: 'kept' }));
    const again = await start(await objectsIn(folder, Date.now));
    expect((await get(again.client)).toString()).toBe('kept');
  });

  test('loses, when it is opened, what its age class has outlived and what was never written whole', async () => {
    const folder = await temporaryFolder();
    await mkdir(folder, { recursive: true });
    const days = (count: number): Date => new Date(Date.now() - count * 86_400_000);
    const files: [string, number][] = [
      ['16d%2Fold.object', 17],
      ['16d%2Fyoung.object', 15],
      ['512d%2Fold.object', 400],
      ['half.new', 0],
    ];
    for (const [name, age] of files) {
      await writeFile(join(folder, name), '');
      await utimes(join(folder, name), days(age), days(age));
    }
    await objectsIn(folder, Date.now);
    expect((await readdir(folder)).sort()).toEqual(['16d%2Fyoung.object', '512d%2Fold.object']);
  });
});
