import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { api, deadLettered, getMessage, listLogs, ok, unique } from '../support/api.ts';
import { messageIdOf, publish } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

const redacted = (value: string): string => `REDACTED:${createHash('sha256').update(value).digest('hex')}`;
const body = 'the secret body';
const secrets = {
  'Content-Type': 'text/plain',
  'Svc-Forward-Authorization': 'Basic c2VjcmV0',
  'Svc-Forward-X-Tenant': 'secret tenant',
};

describe('redacted parts of a message', () => {
  it.each<[fields: string, shown: object]>([
    ['body', { body: redacted(body), header: { Authorization: ['Basic c2VjcmV0'] } }],
    [
      'header[Authorization],body',
      {
        body: redacted(body),
        header: { Authorization: [redacted('Basic c2VjcmV0')], 'X-Tenant': ['secret tenant'] },
      },
    ],
  ])('by %s is shown as its hash', async (fields, shown) => {
    const messageId = messageIdOf(
      await publish(receiver.origin, {
        body,
        headers: { ...secrets, 'Svc-Delay': '10m', 'Svc-Redact-Fields': fields },
      }),
    );
    expect(await getMessage(messageId)).toMatchObject(shown);
    await ok(api('DELETE', `/v2/messages/${messageId}`));
  });

  it('are delivered, retried and sent again from the dead-letter queue unchanged, and shown nowhere', async () => {
    const inbox = receiver.inbox((_delivery, response, before) => {
      response.writeHead(before < 2 ? 500 : 200).end();
    });
    const failures = receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const label = unique('label');
    const messageId = messageIdOf(
      await publish(inbox.url, {
        body,
        headers: {
          ...secrets,
          'Svc-Redact-Fields': 'body,headers',
          'Svc-Retries': '1',
          'Svc-Retry-Delay': '0',
          'Svc-Label': label,
          'Svc-Failure-Callback': failures.url,
          'Svc-Failure-Callback-Retries': '0',
        },
      }),
    );
    // The callback contains the message’s body and headers, and becomes a dead letter, too.
    const entries = await deadLettered({ label }, 2);
    const answers: unknown[] = [entries, await listLogs({ label })];
    for (const { dlqId } of entries) answers.push(await ok(api('GET', `/v2/dlq/${dlqId}`)));
    const text = JSON.stringify(answers);
    for (const secret of [body, 'c2VjcmV0', 'secret tenant']) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(Buffer.from(secret).toString('base64'));
    }
    const own = entries.find((entry) => entry.messageId === messageId);
    expect(await ok(api('GET', `/v2/dlq/${own?.dlqId ?? ''}`))).toMatchObject({
      body: redacted(body),
      header: { 'X-Tenant': [redacted('secret tenant')] },
    });
    await ok(api('POST', `/v2/dlq/retry/${own?.dlqId ?? ''}`), 201);
    const deliveries = await inbox.received(3);
    for (const delivery of deliveries) {
      expect(delivery.body.toString()).toBe(body);
      expect(delivery.headers).toMatchObject({
        authorization: 'Basic c2VjcmV0',
        'x-tenant': 'secret tenant',
      });
    }
  });
});
