import fc from 'fast-check';
import { jwtVerify, SignJWT } from 'jose';
import { createHash } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { signatureHeaders, type Signed } from '../../../../lambdas/delivery/rules/signature.ts';
import { sampleOf } from '../../../support/sample.ts';

const key = fc.base64String({ minLength: 32, maxLength: 64 }).map((text) => `whsec_${text}`);
const deliveries = fc.record({
  messageId: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
  url: fc.webUrl({ withQueryParameters: true, withFragments: true }),
  body: fc.uint8Array({ maxLength: 500 }),
  dialects: fc.constantFrom(['Svc'], ['Upstash'], ['Svc', 'Upstash']),
  signedAt: fc.integer({ min: 1_000_000_000_000, max: 4_000_000_000_000 }),
});

const valueOf = (name: string, keys: { current: string; next: string }, signed: Signed): string =>
  signatureHeaders(keys, signed).find(([one]) => one === name)?.[1] ?? '';

describe('the JWT of a delivery', () => {
  it('equals the one that jose makes, and jose verifies it', async () => {
    await fc.assert(
      fc.asyncProperty(deliveries, key, async (signed, current) => {
        const seconds = Math.floor(signed.signedAt / 1000);
        const secret = new TextEncoder().encode(current);
        for (const dialect of signed.dialects) {
          const jwt = valueOf(`${dialect}-Signature`, { current, next: 'other' }, signed);
          const bySignJwt = await new SignJWT({
            body: createHash('sha256').update(signed.body).digest('base64url'),
          })
            .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
            .setIssuer(dialect)
            .setSubject(signed.url)
            .setIssuedAt(seconds - 60)
            .setNotBefore(seconds - 60)
            .setExpirationTime(seconds + 300)
            .setJti(`jwt_${signed.messageId}_${seconds}`)
            .sign(secret);
          expect(jwt).toBe(bySignJwt);
          const currentDate = new Date(seconds * 1000);
          const { protectedHeader } = await jwtVerify(jwt, secret, { currentDate, algorithms: ['HS256'] });
          expect(protectedHeader).toEqual({ alg: 'HS256', typ: 'JWT' });
        }
      }),
      { numRuns: sampleOf(1_000) },
    );
  });

  it('contains no user or password of the URL', () => {
    const signed = {
      messageId: 'msg_1',
      url: 'https://user:secret@example.com/path',
      body: Buffer.from('{}'),
      dialects: ['Svc'],
      signedAt: 1_763_628_097_000,
    };
    const [, claims = ''] = valueOf('Svc-Signature', { current: 'current', next: 'next' }, signed).split('.');
    const text = Buffer.from(claims, 'base64url').toString();
    expect(text).toContain('"sub":"https://example.com/path"');
    expect(text).not.toContain('secret');
  });
});

describe('the signatures of the Standard Webhooks specification', () => {
  it('are verified by its library with either key', () => {
    fc.assert(
      fc.property(deliveries, key, key, (delivery, current, next) => {
        const body = Buffer.from('{"hello":"wörld"}');
        const signedAt = Date.now();
        const headers = Object.fromEntries(
          signatureHeaders({ current, next }, { ...delivery, body, signedAt }),
        );
        for (const one of [current, next]) {
          expect(new Webhook(one).verify(body.toString(), headers)).toEqual({ hello: 'wörld' });
        }
      }),
      { numRuns: sampleOf(300) },
    );
  });
});
