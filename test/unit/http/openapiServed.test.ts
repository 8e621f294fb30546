import { describe, expect, it, vi } from 'vitest';
import * as document from '../../../lambdas/http/openapi/document.ts';
import { serveDescription } from '../../../lambdas/http/openapi/served.ts';
import type { Header } from '../../../lambdas/shared/headers.ts';

const serve = (of: 'messaging' | 'management', basePath = '', headers: readonly Header[] = []) => {
  const { body, ...answer } = serveDescription(of, { basePath, headers });
  if (!(body instanceof Uint8Array)) throw new Error('The answer has no bytes.');
  return { ...answer, body: Buffer.from(body) };
};

describe('the description of an API', () => {
  it.each([
    ['messaging', document.describeApi],
    ['management', document.describeManagementApi],
  ] as const)('has its base path, and is built once: %s', (of, describeIt) => {
    serve(of);
    const stringify = vi.spyOn(JSON, 'stringify');
    const served = ['', '/v1stage', '/a"b'].map((basePath) => serve(of, basePath).body.toString());
    // The path is written three times, because the rest is cached.
    expect(stringify).toHaveBeenCalledTimes(3);
    stringify.mockRestore();
    expect(served).toEqual(['', '/v1stage', '/a"b'].map((basePath) => JSON.stringify(describeIt(basePath))));
  });

  it.each([
    ['the tag', (etag: string) => etag],
    ['a weak tag, among others', (etag: string) => `"other", W/${etag}`],
    ['any', () => '*'],
  ])('is empty for a client that has it already, by %s', (_, headerOf) => {
    const { headers } = serve('messaging');
    const etag = headers?.['etag'] ?? '';
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    const again = serve('messaging', '', [['if-none-match', headerOf(etag)]]);
    expect([again.status, again.body.length, again.headers?.['etag']]).toEqual([304, 0, etag]);
    expect(serve('messaging', '', [['if-none-match', '"another"']]).status).toBe(200);
  });
});
