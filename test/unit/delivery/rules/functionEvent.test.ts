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

it('Cookies of several headers are one list, and there is none without', () => {
  const headers = [
    ['cookie', 'a=1; b=2'],
    ['x-tenant', 'acme'],
    ['cookie', 'c=3'],
  ] as const;
  expect(eventOf(headers).cookies).toEqual(['a=1', 'b=2', 'c=3']);
  expect(eventOf(headers).headers).not.toHaveProperty('cookie');
  expect(eventOf([])).not.toHaveProperty('cookies');
});

it('A request without a user agent has an empty one', () => {
  expect(eventOf([]).requestContext).toEqual({
    accountId: '123456789012',
    apiId: 'svc',
    domainName: 'lambda.eu-central-1.amazonaws.com',
    domainPrefix: 'lambda',
    http: { method: 'PUT', path: '/', protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: '' },
    requestId: 'msg_1',
    routeKey: '$default',
    stage: '$default',
    time: '01/Jan/1970:00:00:00 +0000',
    timeEpoch: 0,
  });
});
