import { describe, expect, it } from 'vitest';
import { readGatewayEvent } from '../../../lambdas/http/gateway.ts';
import { segmentsOf } from '../../../lambdas/http/request.ts';
import { routesIn } from '../../../lambdas/http/route.ts';
import * as z from 'zod/mini';
import type { APIGatewayProxyEvent } from 'aws-lambda';

const event = z.custom<APIGatewayProxyEvent>((value) => typeof value === 'object');

const segments = (path: string): readonly string[] => {
  const requestContext = { requestId: 'test', path, identity: { sourceIp: '127.0.0.1' } };
  const request = readGatewayEvent(event.parse({ httpMethod: 'POST', path, requestContext, body: null }));
  const [route] = routesIn('workflows', { 'POST /v2/notify/{event+}': { access: 'write' } });
  if (route === undefined) throw new Error('There is no route.');
  return segmentsOf({ request, route }, 'event');
};

describe('the segments of the rest of a path', () => {
  it.each<[path: string, expected: readonly string[]]>([
    ['/v2/notify/wfr_1/paid', ['wfr_1', 'paid']],
    ['/stage/v2/notify/wfr_1/a%2Fb%20c', ['wfr_1', 'a/b c']],
    ['/v2/notify/__proto__/%E2%82%AC', ['__proto__', '\u20ac']],
  ])('of %s are decoded, each by itself', (path, expected) => {
    expect(segments(path)).toEqual(expected);
  });

  it.each([
    ['/v2/notify/a%zz/b%20c', ['a%zz', 'b c']],
    ['/v2/notify/a//b', ['a', '', 'b']],
  ])(
    'of %s are used unchanged if they are not encoded, because clients do not encode event ids',
    (path, expected) => {
      expect(segments(path)).toEqual(expected);
    },
  );
});
