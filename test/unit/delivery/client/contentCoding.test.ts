import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { decodeAnswer } from '../../../../lambdas/delivery/client/contentCoding.ts';
import type { DestinationResponse } from '../../../../lambdas/destination/response.ts';

const text = Buffer.from('{"message":"Grüße"}');
const maxBytes = 100_000;

const answer = (body: Uint8Array, ...codings: readonly string[]): DestinationResponse => ({
  status: 200,
  headers: codings.map((coding) => ['content-encoding', coding] as const),
  body,
});

describe('an answer in', () => {
  it.each<readonly [string, Uint8Array]>([
    ['gzip', gzipSync(text)],
    ['GZip', gzipSync(text)],
    ['deflate', deflateSync(text)],
    // Without the frame of zlib.
    ['deflate', deflateRawSync(text)],
    ['br', brotliCompressSync(text)],
    ['identity', text],
    ['gzip, identity, br', brotliCompressSync(gzipSync(text))],
    ['gzip,gzip,gzip,gzip,gzip', [1, 2, 3, 4, 5].reduce((bytes: Buffer) => gzipSync(bytes), text)],
    // Two members with trailing bytes, as some servers pad.
    ['gzip', Buffer.concat([gzipSync(text.subarray(0, 5)), gzipSync(text.subarray(5)), Buffer.alloc(8)])],
  ])('%j is decoded, and keeps its header', async (coding, body) => {
    const decoded = await decodeAnswer(answer(body, coding), maxBytes);
    expect(decoded).toEqual({ ...answer(body, coding), body: text });
  });

  it.each<readonly [string, Uint8Array]>([
    ['gzip', text],
    ['gzip', gzipSync(text).subarray(0, -9)],
    ['zstd', text],
    ['__proto__', text],
    // Decoding only the outer coding would leave a body that its header does not describe.
    ['zstd, gzip', gzipSync(text)],
    [
      Array.from({ length: 6 }, () => 'identity, gzip').join(),
      [1, 2, 3, 4, 5, 6].reduce((bytes: Buffer) => gzipSync(bytes), text),
    ],
  ])('%j that cannot be decoded stays as it came', async (coding, body) => {
    expect(await decodeAnswer(answer(body, coding), maxBytes)).toEqual(answer(body, coding));
  });
});

describe('the limit of bytes', () => {
  const whole = Buffer.alloc(maxBytes, 'ab');

  it('applies to the decoded body, which may have exactly that size', async () => {
    const decoded = await decodeAnswer(answer(gzipSync(whole), 'gzip'), maxBytes);
    expect([Buffer.compare(decoded.body, whole), decoded.isCut]).toEqual([0, undefined]);
  });

  it.each<readonly [string, (bytes: Buffer) => Buffer]>([
    ['gzip', (bytes) => gzipSync(bytes)],
    ['br', (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } })],
    ['gzip, gzip', (bytes) => gzipSync(gzipSync(bytes))],
  ])('cuts a bomb in %s, and says so', async (coding, compress) => {
    const bomb = compress(Buffer.alloc(5_000_000, 'ab'));
    expect(bomb.length).toBeLessThan(maxBytes);
    const decoded = await decodeAnswer(answer(bomb, coding), maxBytes);
    expect(decoded.isCut).toBe(true);
    expect(Buffer.compare(decoded.body, whole)).toBe(0);
  });

  it.each<readonly [string, (bytes: Buffer) => Buffer]>([
    ['gzip', (bytes) => gzipSync(bytes)],
    ['br', (bytes) => brotliCompressSync(bytes)],
  ])('leaves the beginning of an answer in %s whose end was not read', async (coding, compress) => {
    const random = randomBytes(200_000);
    const read = compress(random).subarray(0, maxBytes);
    const decoded = await decodeAnswer({ ...answer(read, coding), isCut: true }, maxBytes);
    expect(decoded.isCut).toBe(true);
    expect(decoded.body.length).toBeGreaterThan(maxBytes / 2);
    expect(Buffer.compare(decoded.body, random.subarray(0, decoded.body.length))).toBe(0);
  });

  it('applies to endless decoded data, without blocking the event loop', async () => {
    const member = gzipSync('');
    const bomb = Buffer.concat(Array.from({ length: 50_000 }, () => member));
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    });
    const decoded = await decodeAnswer(answer(bomb, 'gzip'), maxBytes);
    clearInterval(counting);
    expect([decoded.body.length, decoded.isCut]).toEqual([0, undefined]);
    expect(turns).toBeGreaterThan(0);
  });
});
