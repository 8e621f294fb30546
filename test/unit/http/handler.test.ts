import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { answerOf } from '../../support/metricFixture.ts';
import { useStandIns } from '../../support/useStandIns.ts';

useStandIns({ overHttp: true });

const importHttp = async () => ({
  ...(await import('../../../lambdas/http/handler.ts')),
  ...(await import('../../../lambdas/http/routes.ts')),
});
let http: Awaited<ReturnType<typeof importHttp>>;
beforeAll(async () => {
  http = await importHttp();
});

const event = z.custom<APIGatewayProxyEvent>((value) => typeof value === 'object');
const context = z.custom<Context>((value) => typeof value === 'object');
const result = z.custom<APIGatewayProxyResult>((value) => typeof value === 'object');

/** Returns the handler’s result for an endpoint that answers like this or throws. */
async function answerTo(method: string, path: string, answer: () => unknown): Promise<APIGatewayProxyResult> {
  const endpoint = async () => Promise.resolve({ status: 200, body: answer() });
  const routes = {
    'GET /v2/keys': endpoint,
    'POST /v2/keys/rotate': endpoint,
    'POST /v2/rotate': endpoint,
    'GET /v2/tokens': endpoint,
    'POST /v2/tokens': endpoint,
    'POST /v2/tokens/rotate': endpoint,
    'POST /v2/tokens/{tokenId}/rotate': endpoint,
    'DELETE /v2/tokens/{tokenId}': endpoint,
  };
  const handler = http.handlerOf<'keys'>(routes, http.findRoute, []);
  const requestContext = { requestId: 'test', path, identity: { sourceIp: '127.0.0.1' } };
  const request = { httpMethod: method, path, requestContext, body: null, isBase64Encoded: false };
  return result.parse(await handler(event.parse(request), context.parse({})));
}

const fail = (): never => {
  throw new Error('crash');
};
const throttled = (): never => {
  throw answerOf('ThrottlingException', 400);
};

describe('a request that fails', () => {
  const [get, post] = [
    ['GET', '/v2/keys'],
    ['POST', '/v2/keys/rotate'],
  ] as const;
  it.each([
    [...get, 500, fail, 'The service failed to answer the request. Send it again.'],
    [
      ...post,
      500,
      fail,
      'The service failed on this request, which may still have taken effect. Send it again if that does no harm.',
    ],
    [...get, 503, throttled, 'The service cannot answer the request now. Send it again a moment later.'],
    [
      ...post,
      503,
      throttled,
      'The service cannot finish this request now, which may still have taken effect. Send it again a moment later if that does no harm.',
    ],
  ] as const)('is answered without details: %s %s, with %i', async (method, path, status, answer, error) => {
    const { statusCode, body } = await answerTo(method, path, answer);
    expect([statusCode, JSON.parse(body)]).toEqual([status, { error, code: 'service_failed' }]);
  });
});

describe('a request whose account cannot be read because DynamoDB is throttled', () => {
  it('is asked to retry later', async () => {
    const [{ handler }, { dynamodb }] = await Promise.all([
      import('../../../lambdas/handlers/urlGroups.ts'),
      import('../../../lambdas/aws/dynamodb.ts'),
    ]);
    dynamodb.middlewareStack.add(
      () => () => {
        throw answerOf('ThrottlingException', 400);
      },
      { step: 'deserialize', name: 'throttled', priority: 'high' },
    );
    const token = Buffer.from(JSON.stringify({ UserID: 'someone', Password: 'x'.repeat(43) }));
    const answer = result.parse(
      await handler(
        event.parse({
          httpMethod: 'GET',
          path: '/v2/topics/orders',
          requestContext: {
            requestId: 'test',
            path: '/v2/topics/orders',
            identity: { sourceIp: '127.0.0.1' },
          },
          multiValueHeaders: { Authorization: [`Bearer ${token.toString('base64')}`] },
          body: null,
          isBase64Encoded: false,
        }),
        context.parse({}),
      ),
    );
    dynamodb.middlewareStack.remove('throttled');
    expect([answer.statusCode, answer.body]).toEqual([503, expect.stringContaining('service_failed')]);
  });
});

describe('an answer', () => {
  const textOf = ({ body, isBase64Encoded = false }: APIGatewayProxyResult): string =>
    Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8').toString();

  it.each([
    ['long, and without much to escape, too', 'x', 5_000_000, undefined],
    ['long, and with much to escape, is in base64', '"', 2_000_000, true],
  ])('that is %s', async (_title, text, count, isBase64Encoded) => {
    const body = text.repeat(count);
    const answer = await answerTo('GET', '/v2/keys', () => ({ body }));
    expect(answer.isBase64Encoded).toBe(isBase64Encoded);
    expect(JSON.parse(textOf(answer))).toEqual({ body });
    expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThanOrEqual(6_291_556);
  });

  it('that does not fit either way is an error instead of a failed function', async () => {
    const answer = await answerTo('GET', '/v2/keys', () => ({ body: '"'.repeat(4_000_000) }));
    expect(answer.statusCode).toBe(500);
  });

  it.each([
    ['JSON', { status: 'ok' }, 'application/json'],
    ['bytes', Buffer.from('svc_up 1'), undefined],
  ])('to HEAD equals the one to GET without its body: %s', async (_, body, contentType) => {
    const { statusCode, headers, ...rest } = await answerTo('HEAD', '/v2/keys', () => body);
    expect([statusCode, headers?.['content-type'], rest]).toEqual([200, contentType, { body: '' }]);
  });
});
