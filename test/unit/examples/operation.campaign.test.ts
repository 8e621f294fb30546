import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import type * as queuesModule from '../../../lambdas/handlers/queues.ts';
import type * as documentModule from '../../../lambdas/http/openapi/document.ts';
import type * as accountsModule from '../../../lambdas/management/accounts.ts';
import { useStandIns } from '../../support/useStandIns.ts';
import { followGuide } from './followGuide.ts';

useStandIns({ overHttp: true });

const guide = followGuide('Add an operation', {
  like: ['count', 'pause'],
  include: ['lambdas/handlers/queues.ts', 'lambdas/http/openapi/document.ts'],
});
afterAll(guide.remove);

const event = z.custom<APIGatewayProxyEvent>((value) => typeof value === 'object');
const context = z.custom<Context>((value) => typeof value === 'object');

describe('an operation that is added according to the guide', () => {
  it('is required by the compiler in its description and its handler', () => {
    expect(guide.files).toHaveLength(2);
    guide.add(undefined, /access/);
    const said = guide.compile();
    expect(said).toMatch(/operations\/queues\.ts.*Property ''GET \/v2\/queues\/\{name\}\/count'' is missing/);
    expect(said).toMatch(/handlers\/queues\.ts.*Property ''GET \/v2\/queues\/\{name\}\/count'' is missing/);
    guide.add();
    expect(guide.compile()).toBe('');
  });

  it('answers, refuses and is described', async () => {
    const { createAccount } = await guide.load<typeof accountsModule>('lambdas/management/accounts.ts');
    const { handler } = await guide.load<typeof queuesModule>('lambdas/handlers/queues.ts');
    const { token } = z.object({ token: z.string() }).parse(await createAccount(Buffer.from('{}')));
    const ask = (httpMethod: string, path: string, body: object | null = null) =>
      handler(
        event.parse({
          httpMethod,
          path,
          body: body && JSON.stringify(body),
          isBase64Encoded: false,
          multiValueHeaders: { authorization: [`Bearer ${token}`] },
          requestContext: { requestId: 'one', path, identity: { sourceIp: '127.0.0.1' } },
        }),
        context.parse({}),
      );
    await ask('POST', '/v2/queues', { queueName: 'mail' });
    expect(await ask('GET', '/v2/queues/mail/count')).toMatchObject({ statusCode: 200, body: '{"count":0}' });
    expect(await ask('GET', '/v2/queues/missing/count')).toMatchObject({ statusCode: 404 });
    const { describeApi } = await guide.load<typeof documentModule>('lambdas/http/openapi/document.ts');
    expect(describeApi().paths).toHaveProperty(
      ['/v2/queues/{name}/count', 'get', 'operationId'],
      'countQueue',
    );
  });
});
