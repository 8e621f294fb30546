import { Client, Receiver as QstashReceiver } from '@upstash/qstash';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callbackOf } from '../support/callbacks.ts';
import { service } from '../support/publish.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';

let receiver: Receiver;
let client: Client;
beforeAll(async () => {
  receiver = await startReceiver();
  client = new Client({ baseUrl: service.url, token: service.token, enableTelemetry: true });
});
afterAll(() => receiver.close());

describe('the published client, unchanged', () => {
  it('publishes JSON, and its Receiver verifies what arrives', async () => {
    const inbox = receiver.inbox();
    const { messageId } = await client.publishJSON({ url: inbox.url, body: { hello: 'world' } });
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers['upstash-message-id']).toBe(messageId);
    expect(delivery?.headers['content-type']).toBe('application/json');
    const verified = new QstashReceiver({
      currentSigningKey: service.currentSigningKey,
      nextSigningKey: service.nextSigningKey,
    }).verify({
      signature: delivery?.headers['upstash-signature'] ?? '',
      body: delivery?.body.toString() ?? '',
      url: inbox.url,
    });
    await expect(verified).resolves.toBe(true);
  });

  it('publishes with all its options', async () => {
    const callbacks = receiver.inbox();
    const failures = receiver.inbox();
    const inbox = receiver.inbox((_delivery, response) => response.writeHead(500).end('no'));
    const { messageId } = await client.publish({
      url: inbox.url,
      body: 'work',
      method: 'PATCH',
      headers: {
        'X-Tenant': 'acme',
        'Content-Type': 'text/plain',
        'Upstash-Callback-Forward-X-Kind': 'callback',
        'Upstash-Failure-Callback-Retries': '0',
      },
      delay: 1,
      retries: 1,
      retryDelay: '500 * (1 + retried)',
      timeout: '10s',
      callback: callbacks.url,
      failureCallback: failures.url,
      label: 'nightly',
    });
    const [first] = await inbox.received(2);
    expect(first?.method).toBe('PATCH');
    expect(first?.headers).toMatchObject({ 'x-tenant': 'acme', 'content-type': 'text/plain' });
    const [failure] = await failures.received(1);
    expect(failure && callbackOf(failure)).toMatchObject({
      sourceMessageId: messageId,
      status: 500,
      retried: 1,
    });
    const called = await callbacks.received(2);
    expect(called[0]?.headers['x-kind']).toBe('callback');
  });

  it('publishes with notBefore', async () => {
    const inbox = receiver.inbox();
    const notBefore = Math.ceil(Date.now() / 1000) + 2;
    await client.publish({ url: inbox.url, notBefore });
    const [delivery] = await inbox.received(1);
    expect(delivery?.at).toBeGreaterThanOrEqual(notBefore * 1000);
  });

  it('throws the service’s own text if something is wrong', async () => {
    await expect(client.publish({ url: 'not$a$url' })).rejects.toThrow(/The destination is/);
    await expect(client.publish({ url: receiver.origin, retries: 99 })).rejects.toThrow(/max_retries is 5/);
  });
});
