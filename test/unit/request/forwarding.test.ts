import { describe, expect, it } from 'vitest';
import { HttpError } from '../../../lambdas/error/httpError.ts';
import {
  addMissingHeaders,
  forwardedByName,
  isGatewayHeader,
  isOwnHeader,
  passedOn,
} from '../../../lambdas/request/forwarding.ts';
import type { Header } from '../../../lambdas/shared/headers.ts';

const check = (...headers: readonly Header[]) => forwardedByName(headers, (name) => `Svc-Forward-${name}`);
const token = Buffer.from(JSON.stringify({ UserID: 'acct', Password: 'secret' })).toString('base64');

/** The headers of a connection (RFC 9110, 7.6.1), and those that every HTTP client sets. */
const own = [
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te'],
  ...['trailer', 'transfer-encoding', 'upgrade', 'expect', 'host', 'content-length'],
  ...['accept-encoding', 'http2-settings', 'proxy-anything'],
];
const gateways = [
  ...['x-forwarded-for', 'x-forwarded-proto', 'x-amzn-trace-id', 'x-amz-cf-id', 'via', 'forwarded'],
  ...['cloudfront-viewer-country', 'cdn-loop'],
];

describe('a header that is forwarded by its name', () => {
  it.each([
    ['x-any', 'text'],
    ["!#$%&'*+.^_`|~0-9a-z", ''],
    ['x-tab', 'a\tb'],
    ['x-latin', 'caf\u00e9 \u0080\u00ff'],
    ['authorization', 'Bearer of-the-destination'],
  ])('%s may be %j', (...header) => {
    expect(check(['x-first', '1'], header)).toEqual([['x-first', '1'], header]);
  });

  it.each(['', 'x any', 'x:any', 'x\n', '\tx', 'x\u00e9'])('may not be named %j', (name) => {
    const refused = new HttpError(400, 'field_invalid', `Svc-Forward-${name} does not name an HTTP header.`);
    expect(() => check([name, 'text'])).toThrow(refused);
  });

  it.each([...own, ...gateways])(
    'is dropped if it is %s, because clients pass on all headers that they got',
    (name) => {
      expect(check([name, 'any value, \u0100 too'], ['x-any', '1'])).toEqual([['x-any', '1']]);
    },
  );

  it.each(['a\nb', '\r', 'a\u0000', '\u007f'])('may not have the value %j', (value) => {
    expect(() => check(['x-any', value])).toThrow(
      new HttpError(
        400,
        'field_invalid',
        `Svc-Forward-x-any is ${JSON.stringify(value)}; allowed are printable characters.`,
      ),
    );
  });
});

describe('if all headers of a request are forwarded,', () => {
  it('those of the connection, of gateways and of the service are not', () => {
    const stays = [...own, ...gateways];
    const sent = stays.map((name): Header => [name, 'text']);
    expect(passedOn([['content-type', 'text/plain'], ...sent, ['x-any', '1']])).toEqual([
      ['content-type', 'text/plain'],
      ['x-any', '1'],
    ]);
    expect(own.every(isOwnHeader)).toBe(true);
    expect(gateways.every(isGatewayHeader)).toBe(true);
  });

  it.each(['x-via', 'via-x', 'forwarded-by', 'x-cdn-loop', 'cdn-loops', 'my-x-forwarded-for', 'hosts'])(
    '%s is forwarded, although it resembles one of those',
    (name) => {
      expect(passedOn([[name, 'text']])).toEqual([[name, 'text']]);
    },
  );

  it.each([
    token,
    `Bearer ${token}`,
    `Bearer\t${token}`,
    `Bearer  ${token}`,
    `Bearer ${token}, Bearer of-the-destination`,
    `Bearer of-the-destination,Bearer ${token}`,
  ])('a token of the service is not forwarded: %s', (value) => {
    expect(passedOn([['authorization', value]])).toEqual([]);
  });

  it('the sender’s own authorization is forwarded, and so is a token in another header', () => {
    const headers: readonly Header[] = [
      ['authorization', 'Bearer of-the-destination'],
      ['authorization', 'Basic dXNlcjpwYXNzd29yZA=='],
      ['x-token', token],
    ];
    expect(passedOn(headers)).toEqual(headers);
  });
});

it('a message’s own headers precede its group’s defaults, which add the missing ones', () => {
  const defaults: readonly Header[] = [
    ['x-a', 'default'],
    ['x-b', 'default'],
    ['x-b', 'another'],
  ];
  expect(addMissingHeaders([['x-a', 'own']], defaults)).toEqual([
    ['x-a', 'own'],
    ['x-b', 'default'],
    ['x-b', 'another'],
  ]);
  expect(addMissingHeaders([], defaults)).toEqual(defaults);
});
