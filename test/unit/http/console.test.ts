import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { writeConsole } from '../../../console/build.ts';
import { useStandIns } from '../../support/useStandIns.ts';

useStandIns();

const event = z.custom<APIGatewayProxyEvent>((value) => typeof value === 'object');
const context = z.custom<Context>((value) => typeof value === 'object');
const result = z.custom<APIGatewayProxyResult>((value) => typeof value === 'object');

let answerTo: (path: string) => Promise<APIGatewayProxyResult>;
beforeAll(async () => {
  vi.stubEnv('CONSOLE_DIRECTORY', writeConsole());
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

  it('that ends with a slash redirects to the one without, which relative names need', async () => {
    const { statusCode, headers } = await answerTo('/live/console/');
    const location = z.string().parse(headers?.['location']);
    expect(statusCode).toBe(308);
    expect(new URL(location, 'https://example.com/live/console/').pathname).toBe('/live/console');
  });
});
