import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { writeConsole } from '../../../console/build.ts';
import { errorCodes } from '../../../lambdas/error/errorCodes.ts';
import { useStandIns } from '../../support/useStandIns.ts';

useStandIns();

const event = z.custom<APIGatewayProxyEvent>((value) => typeof value === 'object');
const context = z.custom<Context>((value) => typeof value === 'object');
const result = z.custom<APIGatewayProxyResult>((value) => typeof value === 'object');

let folder: string;
let answerTo: (path: string) => Promise<APIGatewayProxyResult>;
beforeAll(async () => {
  folder = writeConsole();
  vi.stubEnv('CONSOLE_DIRECTORY', folder);
  const { handler } = await import('../../../lambdas/handlers/console.ts');
  answerTo = async (path) => {
    const requestContext = { requestId: 'test', path, identity: { sourceIp: '127.0.0.1' } };
    const request = { httpMethod: 'GET', path, requestContext, body: null, isBase64Encoded: false };
    return result.parse(await handler(event.parse(request), context.parse({})));
  };
});

describe('the address of the console', () => {
  it.each(['/console', '/live/console', '/messages/live/console'])('may be %s', async (path) => {
    const { statusCode, headers, body } = await answerTo(path);
    expect([statusCode, headers?.['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const page = Buffer.from(body, 'base64').toString();
    // The page finds its files and the API relative to itself, so any prefix stays.
    const [, script = ''] = /src="([^"]+)"/.exec(page) ?? [];
    const file = new URL(script, `https://example.com${path}`).pathname;
    expect(file.startsWith(`${path}/app-`)).toBe(true);
    expect((await answerTo(file)).statusCode).toBe(200);
  });

  it('has the documents beside it: each link leads to a page, a heading or a file, and each error code has a heading', async () => {
    const valuesOf = (html: string, attribute: string): readonly string[] =>
      [...html.matchAll(new RegExp(` ${attribute}="([^"]*)"`, 'g'))].map(([, value = '']) => value);
    const read = async (name: string): Promise<string> => {
      const { statusCode, body } = await answerTo(`/console/${name}`);
      expect([name, statusCode]).toEqual([name, 200]);
      return Buffer.from(body, 'base64').toString();
    };
    const index = z.array(z.object({ page: z.string() })).parse(JSON.parse(await read('documents.json')));
    const pages = new Map<string, string>(
      await Promise.all(index.map(async ({ page }) => [`${page}.html`, await read(`${page}.html`)] as const)),
    );
    const ids = new Map([...pages].map(([name, html]) => [name, new Set(valuesOf(html, 'id'))]));
    expect(pages.size).toBeGreaterThan(50);
    for (const [name, html] of pages) {
      expect(html).not.toContain('<!-- ');
      for (const link of new Set([...valuesOf(html, 'href'), ...valuesOf(html, 'src')])) {
        const { pathname, hash, host } = new URL(link, `http://example.invalid/console/${name}`);
        if (host !== 'example.invalid' || pathname === '/console') continue;
        const file = pathname.replace('/console/', '');
        if (hash === '') await read(file);
        else
          expect([name, link, ids.get(file)?.has(decodeURIComponent(hash.slice(1)))]).toEqual([
            name,
            link,
            true,
          ]);
      }
    }
    for (const code of Object.keys(errorCodes)) expect(ids.get('errors.html')).toContain(code);
  });

  it('loads less than 60 KB at first, compressed', () => {
    const page = readFileSync(join(folder, 'index.html'), 'utf8');
    const names = [...page.matchAll(/console\/([^"]+)"/g)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(3);
    const bytes = names.reduce((sum, name) => sum + statSync(join(folder, `${name}.br`)).size, 0);
    expect(bytes).toBeLessThan(60_000);
  });

  it('that ends with a slash redirects to the one without, which relative names need', async () => {
    const { statusCode, headers } = await answerTo('/live/console/');
    const location = z.string().parse(headers?.['location']);
    expect(statusCode).toBe(308);
    expect(new URL(location, 'https://example.com/live/console/').pathname).toBe('/live/console');
  });
});
