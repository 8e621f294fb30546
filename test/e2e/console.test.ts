import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { limitForHangsMs } from '../support/limits.ts';
import { service } from '../support/service.ts';

interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Requests a file like a browser, which decodes it. */
async function get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Got> {
  const response = await fetch(`${service.url}${path}`, {
    headers,
    redirect: 'manual',
    signal: AbortSignal.timeout(limitForHangsMs),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Requests a file without decoding it. */
const rawly = (path: string, accepted: string) =>
  new Promise<{ encoding: string | null; vary: string | undefined; body: Uint8Array }>((resolve, reject) => {
    const asking = request(`${service.url}${path}`, {
      headers: { accept: '*/*', 'accept-encoding': accepted },
      signal: AbortSignal.timeout(limitForHangsMs),
    });
    asking.once('error', reject);
    asking.once('response', (response) => {
      const { 'content-encoding': encoding = null, vary } = response.headers;
      buffer(response).then((body) => {
        resolve({ encoding, vary, body });
      }, reject);
    });
    asking.end();
  });

/** Returns the files that the page names, relative to its address. */
async function filesOfPage(): Promise<readonly string[]> {
  const { text } = await get('/console');
  return [...text.matchAll(/(?:src|href)="(console\/[^"]+)"/g)].map(([, path = '']) => `/${path}`);
}

describe('the console', () => {
  it('is a page that needs no token, is not cached, and runs only its own files', async () => {
    const page = await get('/console');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('cache-control')).toBe('no-cache');
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(page.text).not.toMatch(/<script(?![^>]*\ssrc=)|\son\w+=|style="|<style/);
  });

  it('has files whose names contain their hash, which a browser caches for ever', async () => {
    const paths = await filesOfPage();
    expect(paths.map((path) => path.replace(/-\w+(?=\.)/, '')).sort()).toEqual([
      '/console/app.js',
      '/console/chunk.js',
      '/console/icon.svg',
      '/console/style.css',
    ]);
    for (const path of paths) {
      const file = await get(path);
      expect([path, file.status]).toEqual([path, 200]);
      expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(file.headers.get('content-type')).toMatch(/^(text\/javascript|text\/css|image\/svg\+xml)/);
    }
  });

  it.each([
    ['br', 'br', brotliDecompressSync],
    ['gzip, deflate', 'gzip', gunzipSync],
    ['gzip;q=0.5, br;q=0', 'gzip', gunzipSync],
    ['identity', null, (bytes: Uint8Array) => bytes],
  ] as const)('sends a file with the compression that `%s` allows', async (accepted, encoding, decode) => {
    const [path = ''] = (await filesOfPage()).filter((one) => one.endsWith('.css'));
    const plain = await get(path, { 'accept-encoding': 'identity' });
    const response = await rawly(path, accepted);
    expect(response.encoding).toBe(encoding);
    expect(response.vary).toBe('accept-encoding');
    expect(Buffer.from(decode(response.body)).toString()).toBe(plain.text);
  });

  it('says that a file is missing, and that a token does not belong in its address', async () => {
    const unknown = await get('/console/app-0000000000.js');
    expect(unknown.status).toBe(404);
    expect(unknown.text).toContain('The console has no file \\"app-0000000000.js\\".');
    const above = await get('/console/..%2findex.mjs');
    expect(above.status).toBe(404);
    const withToken = await get(`/console?token=${service.token}`);
    expect(withToken.status).toBe(400);
    expect(withToken.text).not.toContain(service.token);
  });
});
