import { Receiver } from '@upstash/qstash';
import { jwtVerify } from 'jose';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { signatureHeaders } from '../../lambdas/delivery/rules/signature.ts';

/** The published client and its JWT library, without a tolerance. */

const keys = {
  current: 'sig_current_0123456789abcdef0123456789',
  next: 'sig_next_0123456789abcdef0123456789',
};
const url = 'https://app.example/orders?id=1';
const body = '{"amount":12}';

const signatureAt = (signedAt: number): string =>
  signatureHeaders(keys, {
    messageId: 'msg_1',
    url,
    body: Buffer.from(body),
    dialects: ['Upstash'],
    signedAt,
  }).find(([name]) => name === 'Upstash-Signature')?.[1] ?? '';

describe('The window of a receiver’s clock, in seconds ahead of the service’s,', () => {
  const signedAt = Date.UTC(2026, 10, 26, 12);
  const signature = signatureAt(signedAt);

  afterEach(() => {
    vi.useRealTimers();
  });

  async function verified(aheadSeconds: number): Promise<unknown[]> {
    const currentDate = new Date(signedAt + aheadSeconds * 1_000);
    vi.useFakeTimers({ toFake: ['Date'], now: currentDate });
    const receiver = new Receiver({ currentSigningKey: keys.current, nextSigningKey: keys.next });
    const results = await Promise.allSettled([
      receiver.verify({ signature, body, url }),
      // With a maximum age, jose refuses tokens that were issued in the future.
      jwtVerify(signature, Buffer.from(keys.current), {
        currentDate,
        issuer: 'Upstash',
        subject: url,
        maxTokenAge: 600,
      }),
    ]);
    return results.map(({ status }) => status);
  }

  it.each([-60, -30, -1, 0, 1, 60, 299])('includes %i s', async (ahead) => {
    expect(await verified(ahead)).toEqual(['fulfilled', 'fulfilled']);
  });

  it.each([-3_600, -61, 300, 3_600])('excludes %i s', async (ahead) => {
    expect(await verified(ahead)).toEqual(['rejected', 'rejected']);
  });
});
