import type { LambdaFunctionURLEvent } from 'aws-lambda';
import { afterEach, describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { startFunctionUrl } from '../../../../local/functionUrl/functionUrl.ts';
import type { Front } from '../../../../local/gateway/front.ts';
import { toFunction } from '../../../../local/lambda/lambda.ts';
import { send, type RawRequest } from '../../../support/send.ts';

interface Started extends Front {
  readonly events: LambdaFunctionURLEvent[];
  readonly reported: unknown[];
}

let started: Started | undefined;
afterEach(async () => {
  await started?.stop(AbortSignal.abort());
});

const isEvent = z.custom<LambdaFunctionURLEvent>(
  (value) => z.object({ rawPath: z.string() }).safeParse(value).success,
);

async function start(
  answer: () => unknown = () => ({ statusCode: 200, body: 'ok' }),
  ready = Promise.resolve(),
): Promise<Started> {
  const events: LambdaFunctionURLEvent[] = [];
  const reported: unknown[] = [];
  const invoke = async (event: unknown): Promise<unknown> => {
    events.push(isEvent.parse(event));
    return Promise.resolve(answer());
  };
  const url = await startFunctionUrl({
    port: 0,
    called: () => ({ name: 'publish', invoke }),
    ready,
    report: (error) => void reported.push(error),
  });
  started = { ...url, events, reported };
  return started;
}

async function eventOf(request: RawRequest): Promise<LambdaFunctionURLEvent> {
  const { url, events } = await start();
  expect(await send(url, request)).toMatchObject({ status: 200, text: 'ok' });
  const [event] = events;
  if (event === undefined) throw new Error('no event');
  return event;
}

describe('the event', () => {
  test('has the path unchanged, with all its slashes', async () => {
    const path = '/v2/publish/https://example.com//a%2Fb%3Fc%20d%25/%E2%82%AC;x=1';
    const event = await eventOf({ path: `${path}?q=1` });
    expect([event.rawPath, event.requestContext.http.path]).toEqual([path, path]);
  });

  test('has the query unchanged except a space for a plus, and also its decoded values, joined by commas', async () => {
    const event = await eventOf({ path: '/x?b=2&a=x%20y+z&b=%C3%BC&c&%zz=%' });
    expect(event.rawQueryString).toBe('b=2&a=x%20y z&b=%C3%BC&c&%zz=%');
    expect(event.queryStringParameters).toEqual({ b: '2,ü', a: 'x y z', c: '', '%zz': '%' });
  });

  test('has no body, parameters or cookies if there are none', async () => {
    const event = await eventOf({ path: '/x' });
    for (const key of ['body', 'queryStringParameters', 'cookies']) expect(event).not.toHaveProperty(key);
    expect(event).toMatchObject({ rawQueryString: '', isBase64Encoded: false });
  });

  test('has lower-case headers with repeated values joined by a comma, and no lists', async () => {
    const event = await eventOf({
      path: '/x',
      headers: { 'Svc-Label': ['a', 'b'], Constructor: 'c', 'User-Agent': 'me', Connection: 'close' },
    });
    const host = new URL(started?.url ?? '').host;
    expect(event.headers).toMatchObject({
      'svc-label': 'a,b',
      constructor: 'c',
      host,
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-amzn-trace-id': expect.stringMatching(/^Root=1-[0-9a-f]{8}-[0-9a-f]{24}$/) as string,
    });
    expect(event.headers).not.toHaveProperty('connection');
    expect(event).not.toHaveProperty('multiValueHeaders');
    expect(event.requestContext).toMatchObject({
      domainName: host,
      http: { method: 'POST', protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'me' },
    });
  });

  test('has cookies in a list, and in their header, too', async () => {
    const event = await eventOf({ path: '/x', headers: { Cookie: ['a=1; b=2', 'c=3'] } });
    expect([event.cookies, event.headers['cookie']]).toEqual([['a=1', 'b=2', 'c=3'], 'a=1; b=2; c=3']);
  });

  test.each([
    ['application/json', true],
    ['Application/JSON; charset=utf-8', true],
    ['application/xml', true],
    ['application/javascript', true],
    ['text/csv', true],
    ['application/cloudevents+json', false],
    ['application/x-www-form-urlencoded', false],
    ['application/octet-stream', false],
    [undefined, false],
  ])('has a body of the type %s as text: %s', async (type, isText) => {
    const event = await eventOf({
      path: '/x',
      headers: type === undefined ? {} : { 'Content-Type': type },
      body: 'ü',
    });
    expect(event).toMatchObject({
      body: isText ? 'ü' : Buffer.from('ü').toString('base64'),
      isBase64Encoded: !isText,
    });
  });

  test('has the replacement character for bytes that are not UTF-8, if the type is text', async () => {
    const event = await eventOf({
      path: '/x',
      headers: { 'Content-Type': 'text/plain' },
      body: Buffer.from([0xff]),
    });
    expect(event.body).toBe('\uFFFD');
  });
});

describe('the answer', () => {
  test('is the function’s, JSON by default', async () => {
    const { url } = await start(() => ({
      statusCode: 202,
      headers: { 'X-One': '1' },
      body: Buffer.from('ü').toString('base64'),
      isBase64Encoded: true,
    }));
    const { status, headers, text } = await send(url, { path: '/' });
    expect([status, text]).toEqual([202, 'ü']);
    expect(headers).toMatchObject({ 'x-one': '1', 'content-type': 'application/json' });
  });

  test.each([
    [{ statusCode: 200, multiValueHeaders: { a: ['b'] }, body: '' }],
    [{ statusCode: 200, headers: { a: ['b'] } }],
    ['text'],
    [undefined],
  ])('of the form %j fails here, because it would differ from what its function means', async (returned) => {
    const { url, reported } = await start(() => returned);
    expect((await send(url, { path: '/' })).status).toBe(502);
    expect(reported).toHaveLength(1);
  });

  test('to a failing function is Lambda’s, and does not say why', async () => {
    const { url, reported } = await start(() => {
      throw new Error('crash');
    });
    expect(await send(url, { path: '/' })).toMatchObject({ status: 502, text: 'Internal Server Error' });
    expect(reported).toMatchObject([{ message: 'crash' }]);
  });

  test('to a function that reaches its limit is 503 with Retry-After', async () => {
    const slow = toFunction('publish', () => new Promise(() => undefined), {
      region: 'eu-central-1',
      timeoutMs: 20,
    });
    const { url } = await start(() => slow.invoke({}));
    const { status, headers, text } = await send(url, { path: '/' });
    expect([status, headers['retry-after']]).toEqual([503, '1']);
    expect(JSON.parse(text)).toMatchObject({ code: 'service_timeout' });
  });

  test.each([
    ['application/octet-stream', 4_718_592],
    ['text/plain', 6_291_456],
  ])(
    'to a body of %s with %d bytes is 413, because the event would be too large for Lambda',
    async (type, length) => {
      const { url, events } = await start();
      const headers = { 'Content-Type': type };
      const answer = await send(url, { path: '/', headers, body: Buffer.alloc(length, 'x') });
      expect([answer.status, events]).toEqual([413, []]);
      const fits = await send(url, { path: '/', headers, body: Buffer.alloc(length - 3_000, 'x') });
      expect(fits.status).toBe(200);
    },
  );

  test('waits until the function is available', async () => {
    let load = (): void => undefined;
    const { url, events } = await start(undefined, new Promise<void>((resolve) => (load = resolve)));
    const answered = send(url, { path: '/' });
    expect(events).toEqual([]);
    load();
    expect((await answered).status).toBe(200);
  });
});
