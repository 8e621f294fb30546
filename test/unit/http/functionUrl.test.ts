import type { Context, LambdaFunctionURLEvent } from 'aws-lambda';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import type { ApiRequest } from '../../../lambdas/http/request.ts';
import { routesIn } from '../../../lambdas/http/route.ts';
import { useStandIns } from '../../support/useStandIns.ts';

useStandIns();

const importHttp = async () => {
  // The settings are read when the module is.
  process.env['API_URL'] = 'https://api.invalid/api';
  const [functionUrl, routes] = await Promise.all([
    import('../../../lambdas/http/functionUrl/functionUrl.ts'),
    import('../../../lambdas/http/findRoute.ts'),
  ]);
  return { ...functionUrl, ...routes };
};
let http: Awaited<ReturnType<typeof importHttp>>;
beforeAll(async () => {
  http = await importHttp();
});

const context = z.custom<Context>((value) => typeof value === 'object');
const table = routesIn('publish', { 'POST /v2/publish/{destination+}': { access: 'write' } });

const eventOf = (own: Partial<LambdaFunctionURLEvent> = {}): LambdaFunctionURLEvent => ({
  version: '2.0',
  routeKey: '$default',
  rawPath: '/v2/publish/https://example.com/a',
  rawQueryString: '',
  headers: { 'content-type': 'text/plain' },
  requestContext: {
    accountId: 'anonymous',
    apiId: 'abc',
    domainName: 'abc.lambda-url.eu-central-1.on.aws',
    domainPrefix: 'abc',
    http: { method: 'POST', path: '/', protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'me' },
    requestId: 'request-1',
    routeKey: '$default',
    stage: '$default',
    time: '22/Nov/2026:09:00:00 +0000',
    timeEpoch: 1_795_338_000_000,
  },
  isBase64Encoded: false,
  ...own,
});

const read = (own: Partial<LambdaFunctionURLEvent>): ApiRequest => http.readFunctionUrlEvent(eventOf(own));

describe('a request in the event of a function URL', () => {
  it('has what the event says', () => {
    const headers = { 'svc-label': 'a,b', 'X-Upper': '1' };
    expect(read({ headers, rawQueryString: 'a=1', body: 'ü' })).toEqual({
      id: 'request-1',
      method: 'POST',
      rawPath: '/v2/publish/https://example.com/a',
      basePath: '',
      query: [['a', '1']],
      headers: [
        ['svc-label', 'a,b'],
        ['x-upper', '1'],
      ],
      body: Buffer.from('ü'),
      callerIp: '192.0.2.1',
      host: 'abc.lambda-url.eu-central-1.on.aws',
    });
  });

  it('has its body’s bytes, from text or base64, or no body', () => {
    const bytes = Buffer.from([0, 255, 10]);
    expect(read({ body: bytes.toString('base64'), isBase64Encoded: true }).body).toEqual(bytes);
    expect(read({ body: '{"a":"€"}' }).body.toString()).toBe('{"a":"€"}');
    expect(read({}).body).toHaveLength(0);
  });

  // Not documented by AWS. The parameters are the same either way.
  it.each([
    ['as it was sent', 'a=x%20y+z&b=%2B&a=2'],
    ['with a space for each plus, as was seen on AWS', 'a=x%20y z&b=%2B&a=2'],
    ['with a question mark before it, as AWS’s example has it', '?a=x%20y+z&b=%2B&a=2'],
  ])('has the parameters of a query that is given %s', (_title, rawQueryString) => {
    expect(read({ rawQueryString }).query).toEqual([
      ['a', 'x y z'],
      ['b', '+'],
      ['a', '2'],
    ]);
  });

  it.each([
    ['', []],
    ['%zz=%', [['%zz', '%']]],
    ['__proto__=1', [['__proto__', '1']]],
  ])('has the parameters of the query %j like behind the gateway', (rawQueryString, query) => {
    expect(read({ rawQueryString }).query).toEqual(query);
  });

  it.each<[title: string, Partial<LambdaFunctionURLEvent>]>([
    ['in a list and in a header', { headers: { cookie: 'a=1; b=2' }, cookies: ['a=1', 'b=2'] }],
    ['in a header', { headers: { cookie: 'a=1; b=2' } }],
  ])('has its cookies once, whether they come %s', (_title, own) => {
    expect(read(own).headers).toEqual([['cookie', 'a=1; b=2']]);
  });
});

describe('a request to the publish URL', () => {
  async function answerTo(own: Partial<LambdaFunctionURLEvent>) {
    const passed: ApiRequest[] = [];
    const handler = http.throughFunctionUrl((request) => {
      passed.push(request);
      return Promise.resolve({ statusCode: 200, headers: {}, body: 'passed' });
    }, http.finder(table));
    const result = await handler(eventOf(own), context.parse({}));
    return { ...result, passed: passed.length };
  }
  const refused = (statusCode: number, code: string, error: string) => ({
    statusCode,
    headers: {
      'content-type': 'application/json',
      link: `<https://api.invalid/api/console/errors.html#${code}>; rel="help"`,
    },
    body: JSON.stringify({ error, code }),
    passed: 0,
  });

  it('passes with up to 10,240 bytes of first line and headers, without those that AWS adds', async () => {
    const line = 'POST/v2/publish/https://example.com/aq=1';
    const headersOf = (length: number) => ({
      x: 'x'.repeat(length - line.length - 1),
      'x-amzn-trace-id': 'Root=1',
      'x-forwarded-for': '192.0.2.1',
    });
    const rawQueryString = 'q=1';
    expect((await answerTo({ rawQueryString, headers: headersOf(10_240) })).passed).toBe(1);
    expect(await answerTo({ rawQueryString, headers: headersOf(10_241) })).toEqual(
      refused(431, 'head_too_large', 'The request line and headers together exceed 10240 bytes.'),
    );
  });

  it('counts cookies once, even if they are named twice', async () => {
    const cookie = `a=${'x'.repeat(6_000)}`;
    expect((await answerTo({ headers: { cookie }, cookies: [cookie] })).passed).toBe(1);
    expect((await answerTo({ headers: {}, cookies: [cookie, cookie] })).statusCode).toBe(431);
  });

  it.each([
    '/v2/publish/https://example.com/ü',
    '/v2/publish/https://example.com/a#b',
    '/v2/publish/https://example.com/a\nb',
  ])('is refused with the path %j, which was decoded and may have been another one', async (rawPath) => {
    expect(await answerTo({ rawPath })).toEqual(
      refused(
        400,
        'request_malformed',
        'The request cannot be read as HTTP; a path must be percent-encoded.',
      ),
    );
  });

  it('is refused if the API has no such path', async () => {
    expect(await answerTo({ rawPath: '/robots.txt' })).toEqual(
      refused(404, 'path_not_found', 'There is no POST /robots.txt.'),
    );
  });

  it('is answered 503 if the API does not answer', async () => {
    const { passed, statusCode, headers } = await answerTo({ rawPath: '/v2/logs' });
    expect([passed, statusCode, headers['content-type']]).toEqual([0, 503, 'application/json']);
  });

  it.each([
    ['of UTF-8', { body: 'ü', headers: { 'content-length': '2' } }, 1],
    ['of UTF-8, whose length nobody said', { body: 'ü', headers: {} }, 1],
    [
      'with a replacement character that the client sent',
      { body: '\uFFFD', headers: { 'content-length': '3' } },
      1,
    ],
    ['whose bytes were replaced', { body: '\uFFFD', headers: { 'content-length': '1' } }, 0],
    ['whose bytes may have been replaced', { body: '\uFFFD', headers: {} }, 0],
    ['that was read in another encoding', { body: 'ü', headers: { 'content-length': '1' } }, 0],
    ['without anything', { headers: { 'content-length': '0' } }, 1],
    ['in base64', { body: '/w==', isBase64Encoded: true, headers: { 'content-length': '1' } }, 1],
  ])('with a body %s passes only if the body is unchanged', async (_title, own, passes) => {
    const answer = await answerTo(own);
    expect([answer.passed, answer.statusCode]).toEqual([passes, passes === 1 ? 200 : 400]);
  });
});
