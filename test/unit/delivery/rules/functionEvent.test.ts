import { expect, it } from 'vitest';
import { functionEvent, type FunctionRequest } from '../../../../lambdas/delivery/rules/functionEvent.ts';

const request: FunctionRequest = {
  arn: 'arn:aws:lambda:eu-central-1:123456789012:function:orders',
  messageId: 'msg_1',
  method: 'PUT',
  headers: [],
  body: Buffer.from('body'),
  callerIp: '192.0.2.1',
};
const eventOf = (headers: FunctionRequest['headers']) => functionEvent({ ...request, headers }, 0);

it('A function gets the same event as from its URL', () => {
  const headers = [
    ['content-type', 'application/octet-stream'],
    ['x-twice', '1'],
    ['x-twice', '2'],
    ['cookie', 'a=1; b=2'],
    ['user-agent', 'Svc-Queue'],
  ] as const;
  const now = Date.parse('2026-11-25T08:09:10Z');
  expect(functionEvent({ ...request, headers, body: Buffer.from([0, 255, 10]) }, now)).toEqual({
    version: '2.0',
    routeKey: '$default',
    rawPath: '/',
    rawQueryString: '',
    cookies: ['a=1', 'b=2'],
    headers: {
      'content-type': 'application/octet-stream',
      'x-twice': '1,2',
      'user-agent': 'Svc-Queue',
      host: 'lambda.eu-central-1.amazonaws.com',
      'content-length': '3',
    },
    requestContext: {
      accountId: '123456789012',
      apiId: 'svc',
      domainName: 'lambda.eu-central-1.amazonaws.com',
      domainPrefix: 'lambda',
      http: {
        method: 'PUT',
        path: '/',
        protocol: 'HTTP/1.1',
        sourceIp: '192.0.2.1',
        userAgent: 'Svc-Queue',
      },
      requestId: 'msg_1',
      routeKey: '$default',
      stage: '$default',
      time: '25/Nov/2026:08:09:10 +0000',
      timeEpoch: now,
    },
    body: 'AP8K',
    isBase64Encoded: true,
  });
});

it('An empty body is left out', () => {
  const event = functionEvent({ ...request, body: new Uint8Array() }, 0);
  expect(event).not.toHaveProperty('body');
  expect(event).toMatchObject({ isBase64Encoded: false, headers: { 'content-length': '0' } });
});

it('Cookies of several headers are one list, and without cookies there is no list', () => {
  const headers = [
    ['cookie', 'a=1; b=2'],
    ['x-tenant', 'acme'],
    ['cookie', 'c=3'],
  ] as const;
  expect(eventOf(headers).cookies).toEqual(['a=1', 'b=2', 'c=3']);
  expect(eventOf(headers).headers).not.toHaveProperty('cookie');
  expect(eventOf([])).not.toHaveProperty('cookies');
});
