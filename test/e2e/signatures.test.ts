import { jwtVerify } from 'jose';
import { Webhook } from 'standardwebhooks';
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { publish, service } from '../support/publish.ts';
import type { Delivery } from '../support/receiver.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

const body = '{"amount":12,"note":"für dich"}';

async function deliver(headers: Record<string, string> = {}): Promise<{ delivery: Delivery; url: string }> {
  const inbox = receiver.inbox();
  await publish(inbox.url, { body, headers: { 'content-type': 'application/json', ...headers } });
  const [delivery] = await inbox.received(1);
  if (delivery === undefined) throw new Error('Nothing was delivered.');
  return { delivery, url: inbox.url };
}

describe('the signature of a delivery', () => {
  it('is a JWT that jose verifies with the current key', async () => {
    const { delivery, url } = await deliver();
    const key = new TextEncoder().encode(service.currentSigningKey);
    const { payload, protectedHeader } = await jwtVerify(delivery.headers['svc-signature'] ?? '', key, {
      issuer: 'Svc',
      subject: url,
    });
    expect(protectedHeader.alg).toBe('HS256');
    expect(payload['body']).toBe(createHash('sha256').update(body).digest('base64url'));
    expect([payload.iat, payload.exp]).toEqual([payload.nbf, (payload.nbf ?? 0) + 360]);
    // Standard Webhooks contain the exact time of signing.
    expect(payload.nbf).toBe(Number(delivery.headers['webhook-timestamp']) - 60);
    expect(payload.jti).toBeDefined();
    await expect(
      jwtVerify(delivery.headers['svc-signature'] ?? '', new TextEncoder().encode('another key')),
    ).rejects.toThrow();
  });

  it.each(['currentSigningKey', 'nextSigningKey'] as const)(
    'is a Standard Webhooks signature that its library verifies with the %s',
    async (which) => {
      const { delivery } = await deliver();
      const webhook = new Webhook(service[which]);
      expect(webhook.verify(body, { ...delivery.headers })).toEqual(JSON.parse(body));
      expect(() => webhook.verify(`${body} `, { ...delivery.headers })).toThrow();
    },
  );
});
