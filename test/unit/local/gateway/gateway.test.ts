import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterEach, describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { gatewayRefusals } from '../../../../lambdas/http/openapi/parts/errors.ts';
import { gatewayRoutes, type ApiFunction, type GatewayRoute } from '../../../../lambdas/http/routes.ts';
import type { Front } from '../../../../local/gateway/front.ts';
import { startGateway, type GatewayOptions } from '../../../../local/gateway/gateway.ts';
import { createRouter } from '../../../../local/gateway/router.ts';
import { toFunction, type LambdaFunction } from '../../../../local/lambda/lambda.ts';

const routes: readonly GatewayRoute[] = [
  { path: '/v2/publish/{destination+}', function: 'publish' },
  { path: '/v2/health', function: 'description' },
  { path: '/v2/hooks/{id}', function: 'description' },
];

interface Started extends Front {
  readonly events: APIGatewayProxyEvent[];
  readonly reported: unknown[];
}

let gateway: Started | undefined;
afterEach(async () => {
  await gateway?.stop(AbortSignal.abort());
});

const isEvent = z.custom<APIGatewayProxyEvent>(
  (value) => z.object({ path: z.string() }).safeParse(value).success,
);

async function start(
  answer: (event: APIGatewayProxyEvent) => unknown = () => ({ statusCode: 200, body: 'ok' }),
  options: Partial<GatewayOptions> = {},
): Promise<Started> {
  const events: APIGatewayProxyEvent[] = [];
  const reported: unknown[] = [];
  const called: LambdaFunction = {
    name: 'all',
    invoke: async (input) => {
      const event = isEvent.parse(input);
      events.push(event);
      return Promise.resolve(answer(event));
    },
  };
  const functions = new Map<ApiFunction, LambdaFunction>([
    ['publish', called],
    ['description', called],
  ]);
  const report = (error: unknown): void => void reported.push(error);
  const started = await startGateway({
    port: 0,
    routes,
    functions,
    ready: Promise.resolve(),
    report,
    ...options,
  });
  gateway = { ...started, events, reported };
  return gateway;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends the path unchanged, which `fetch` would normalize. */
async function send(
  to: Front,
  method: string,
  path: string,
  { headers = [], body = '' }: { headers?: readonly string[]; body?: string | Buffer } = {},
): Promise<Answer> {
  const all = ['Host', `127.0.0.1:${to.port}`, 'Content-Length', String(body.length), ...headers];
  const outgoing = request({ host: '127.0.0.1', port: to.port, method, path, headers: all });
  outgoing.end(body);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve).once('error', reject);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return {
    status: response.statusCode,
    headers: response.headers,
    body: Buffer.concat(chunks).toString(),
  };
}

async function eventOf(...sent: Parameters<typeof send> extends [unknown, ...infer Rest] ? Rest : never) {
  const started = await start();
  expect(await send(started, ...sent)).toMatchObject({ status: 200, body: 'ok' });
  const [event] = started.events;
  if (event === undefined) throw new Error('no event');
  return { event, port: started.port };
}

describe('the event', () => {
  test('has the path unchanged, and the captured rest decoded and collapsed', async () => {
    const path = '/v2/publish/https://example.com//a%2Fb%3Fc%20d%25/%E2%82%AC;x=1';
    const { event } = await eventOf('POST', `${path}?q=1`);
    expect(event.path).toBe(path);
    expect(event.resource).toBe('/v2/publish/{destination+}');
    expect(event.pathParameters).toEqual({ destination: 'https:/example.com/a/b?c d%/€;x=1' });
    // Like under a custom domain, where the URL has no stage.
    expect(event.requestContext.path).toBe(path);
  });

  test('has the path of a target that is an absolute URL', async () => {
    const { event } = await eventOf(
      'POST',
      'http://queue.example.com:8080/v2/publish/https://example.com/a?q=1',
    );
    expect(event.path).toBe('/v2/publish/https://example.com/a');
    expect(event.multiValueQueryStringParameters).toEqual({ q: ['1'] });
  });

  test('lacks the headers that `Connection` names, except those that belong to the request', async () => {
    const { event } = await eventOf('POST', '/v2/publish/d', {
      headers: [
        'Connection',
        'close, X-Hop , authorization',
        'X-Hop',
        '1',
        'X-End',
        '2',
        'Authorization',
        'Bearer t',
      ],
    });
    const names = Object.keys(event.headers).map((name) => name.toLowerCase());
    expect(names).not.toContain('x-hop');
    expect(names).not.toContain('connection');
    expect(names).toEqual(expect.arrayContaining(['x-end', 'authorization']));
  });

  test('has the decoded query, with names and values in order', async () => {
    const { event } = await eventOf(
      'POST',
      '/v2/publish/d?b=2&a=x%20y+z&b=%C3%BC&c&=e&__proto__=p&d=1=2&%zz=%',
    );
    const multi = event.multiValueQueryStringParameters ?? {};
    expect(Object.entries(multi)).toEqual([
      ['b', ['2', 'ü']],
      ['a', ['x y z']],
      ['c', ['']],
      ['', ['e']],
      ['__proto__', ['p']],
      ['d', ['1=2']],
      ['%zz', ['%']],
    ]);
    expect(event.queryStringParameters).toMatchObject({ b: 'ü', a: 'x y z' });
  });

  test('has headers in their spelling, the last and all values of each, without those of the connection', async () => {
    const headers = [
      'Svc-Label',
      'a',
      'svc-label',
      'b',
      'constructor',
      'c',
      'Connection',
      'close',
      'User-Agent',
      'me',
    ];
    const { event, port } = await eventOf('POST', '/v2/publish/d', { headers });
    expect(event.multiValueHeaders).toEqual({
      Host: [`127.0.0.1:${port}`],
      'Content-Length': ['0'],
      'Svc-Label': ['a', 'b'],
      constructor: ['c'],
      'User-Agent': ['me'],
      'X-Forwarded-For': ['127.0.0.1'],
      'X-Forwarded-Proto': ['http'],
      'X-Forwarded-Port': [String(port)],
      'X-Amzn-Trace-Id': [expect.stringMatching(/^Root=1-[0-9a-f]{8}-[0-9a-f]{24}$/)],
    });
    expect(event.headers['Svc-Label']).toBe('b');
    expect(event.requestContext.identity).toMatchObject({ sourceIp: '127.0.0.1', userAgent: 'me' });
    expect(event.requestContext.domainName).toBe(`127.0.0.1:${port}`);
  });
});

describe('the answer', () => {
  test('waits for functions that are not available yet', async () => {
    let ready = (): void => undefined;
    const waiting = new Promise<void>((resolve) => (ready = resolve));
    const started = await start(undefined, { ready: waiting });
    const answered = send(started, 'GET', '/v2/health');
    expect(started.events).toEqual([]);
    ready();
    expect((await answered).status).toBe(200);
  });
});

const errorOf = z.strictObject({ error: z.string(), code: z.string() });

describe('the gateway’s own answer', () => {
  test('says if a request cannot be read as HTTP', async () => {
    const { port } = await start();
    const socket = connect(port, '127.0.0.1');
    socket.end(Buffer.from('GET /v2/health?q=ü HTTP/1.1\r\nHost: x\r\n\r\n'));
    const chunks: Buffer[] = [];
    for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk);
    const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(body)).toEqual({
      error: 'The request cannot be read as HTTP; a path must be percent-encoded.',
      code: 'request_malformed',
    });
  });

  const none: readonly string[] = [];
  const nothingAt = (path: string) =>
    `There is nothing at ${path}. For a publish, a non-empty destination must be provided.`;
  test.each([
    ['GET', '/v2/nothing', none, 0, 404, 'path_not_found', nothingAt('/v2/nothing')],
    ['POST', '/v2/publish/d', none, 10_485_761, 413, 'body_too_large', 'The body exceeds 10485760 bytes.'],
    [
      'POST',
      '/v2/publish/d',
      none,
      4_718_592,
      413,
      'body_too_large',
      'The request, its body in base64, exceeds 6291456 bytes.',
    ],
    [
      'GET',
      '/v2/health',
      ['X', 'x'.repeat(10_240)],
      0,
      431,
      'head_too_large',
      'The request line and headers together exceed 10240 bytes.',
    ],
  ])(
    '%s %s is JSON with a code and a sentence (%#)',
    async (method, path, headers, length, status, code, error) => {
      const started = await start();
      const answer = await send(started, method, path, { headers, body: Buffer.alloc(length) });
      expect(answer.status).toBe(status);
      expect(errorOf.parse(JSON.parse(answer.body))).toEqual({ error, code });
      expect(answer.headers['x-amzn-requestid']).toMatch(/^[0-9a-f-]{36}$/);
      expect(started.events).toEqual([]);
    },
  );

  test('to a crash is 502, and the crash is reported', async () => {
    const started = await start(() => {
      throw new Error('crash');
    });
    const answer = await send(started, 'GET', '/v2/health');
    expect(answer.status).toBe(502);
    expect(errorOf.parse(JSON.parse(answer.body)).error).not.toContain('crash');
    expect(started.reported).toMatchObject([{ message: 'crash' }]);
  });

  test.each([[{ body: 'x' }], [{ statusCode: '200' }]])('to %j is 502', async (returned) => {
    const started = await start(() => returned);
    expect((await send(started, 'GET', '/v2/health')).status).toBe(502);
    expect(started.reported).toHaveLength(1);
  });

  const describedOf = (status: number) => gatewayRefusals.find((one) => one.status === status)?.examples[0];
  const refusalIn = (answer: { readonly body: string }) => {
    const { code, error } = errorOf.parse(JSON.parse(answer.body));
    return [code, error];
  };

  test('to a function that takes too long is 504', async () => {
    const started = await start(() => new Promise(() => undefined), { timeoutMs: 20 });
    const answer = await send(started, 'GET', '/v2/health');
    expect([answer.status, refusalIn(answer)]).toEqual([504, describedOf(504)]);
  });

  test('to a function that is cut off at its limit, because the machine is too busy, is 503 with Retry-After', async () => {
    const options = { region: 'eu-central-1', timeoutMs: 20 };
    const slow = toFunction('all', () => new Promise(() => undefined), options);
    const started = await start((event) => slow.invoke(event));
    const answer = await send(started, 'GET', '/v2/health');
    expect([answer.status, refusalIn(answer)]).toEqual([503, describedOf(504)]);
    expect(answer.headers['retry-after']).toBe('1');
    expect(started.reported).toMatchObject([{ message: 'Task timed out after 0.02 seconds' }]);
  });

  test.each([
    ['as large as Lambda takes is passed on', 0, 200],
    ['larger than Lambda takes is 502', 1, 502],
  ])('%s, including its JSON', async (_title, more, status) => {
    // Each quote is escaped once more. The body is wrapped in {"statusCode":200,"body":""}.
    const body = `${'"'.repeat(1_000_000)}${'x'.repeat(4_291_556 - 28 + more)}`;
    const functionOf = toFunction('all', () => Promise.resolve({ statusCode: 200, body }), {
      region: 'eu-central-1',
      timeoutMs: 1_000,
    });
    const started = await start((event) => functionOf.invoke(event));
    const answer = await send(started, 'GET', '/v2/health');
    expect(answer.status).toBe(status);
    if (status === 502) expect(refusalIn(answer)).toEqual(describedOf(502));
    else expect(answer.body).toBe(body);
  });
});

test('a stop waits for accepted requests', async () => {
  let finish = (): void => undefined;
  let taken = (): void => undefined;
  const called = new Promise<void>((resolve) => (taken = resolve));
  const started = await start(async () => {
    taken();
    await new Promise<void>((resolve) => (finish = resolve));
    return { statusCode: 200, body: 'finished' };
  });
  const answered = send(started, 'GET', '/v2/health');
  await called;
  const stopped = started.stop(new AbortController().signal);
  // The client may use an old connection to an earlier server on this port, which is reset.
  await expect(send(started, 'GET', '/v2/health')).rejects.toMatchObject({
    code: expect.toBeOneOf(['ECONNREFUSED', 'ECONNRESET']) as unknown,
  });
  finish();
  expect((await answered).body).toBe('finished');
  await stopped;
});

describe('the router', () => {
  const router = createRouter(
    ['/v2/dlq/{id}', '/v2/dlq/retry', '/v2/dlq/retry/{id}', '/v2/dlq', '/v2/{rest+}'].map((path) => ({
      path,
      function: 'publish',
    })),
  );

  test.each([
    ['/v2/dlq', '/v2/dlq', null],
    ['/v2/dlq/a%20b', '/v2/dlq/{id}', { id: 'a b' }],
    ['/v2/dlq/retry/x', '/v2/dlq/retry/{id}', { id: 'x' }],
    ['/v2/dlq/x/y', '/v2/{rest+}', { rest: 'dlq/x/y' }],
    ['/v2//dlq//retry//x/', '/v2/dlq/retry/{id}', { id: 'x' }],
  ])('finds the most specific resource: %s', (path, resource, pathParameters) => {
    expect(router(path)).toMatchObject({ route: { path: resource }, pathParameters });
  });

  test.each(['/', '', '/v2', '/v2/', '/v1/dlq', '*'])('finds nothing for %j', (path) => {
    expect(router(path)).toBeUndefined();
  });

  test.each([
    ['/v2/schedules', '/v2/schedules', 'schedules'],
    ['/v2/batch/trigger', '/v2/batch/{proxy+}', 'publish'],
    ['/v2/svc/users/1', '/v2/{brand}/{proxy+}', 'accounts'],
    ['/console/index.js', '/console/{proxy+}', 'console'],
  ])('leaves %s to the function of the route with this beginning', (path, resource, name) => {
    expect(createRouter(gatewayRoutes)(path)?.route).toEqual({ path: resource, function: name });
  });
});
