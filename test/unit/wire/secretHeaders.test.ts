import { expect, it } from 'vitest';
import { maskedAnswer } from '../../../lambdas/wire/maskedAnswer.ts';
import { isSecretHeader } from '../../../lambdas/wire/secretHeaders.ts';

it.each([
  ['Authorization', true],
  ['Proxy-Authorization', true],
  ['Set-Cookie', true],
  ['X-Api-Key', true],
  ['x_api_key', true],
  ['apikey', true],
  ['X-Amz-Security-Token', true],
  ['Upstash-Failure-Callback-Forward-X-Auth-Token', true],
  ['Svc-Flow-Control-Key', false],
  ['Idempotency-Key', false],
  ['X-Ratelimit-Remaining-Tokens', false],
  ['X-Author', false],
  ['Content-Type', false],
])('a header %s is a credential: %s', (name, isSecret) => {
  expect(isSecretHeader(name, '東京')).toBe(isSecret);
});

it('a value of a scheme is a credential in any header, and a hash in none', () => {
  expect(isSecretHeader('X-Forwarded', 'Bearer abc')).toBe(true);
  expect(isSecretHeader('Authorization', 'REDACTED:abc')).toBe(false);
});

it('other texts stay byte for byte, also JSON that is nested too deeply', () => {
  const deep = `{"header":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  const body = { labels: ['Basic plan'], body: '{"headers": {"x": "1"} }', deep, token: 'Bearer of news' };
  expect(maskedAnswer(body)).toEqual(body);
  const json = '{"sourceHeader":{"Authorization":"x","__proto__":"y"}}';
  const shown = '{"sourceHeader":{"Authorization":"…","__proto__":"y"}}';
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  expect(maskedAnswer([{ body: json, bodyBase64: base64(json) }])).toEqual([
    { body: shown, bodyBase64: base64(shown) },
  ]);
});
