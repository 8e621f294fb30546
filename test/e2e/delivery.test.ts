import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, ok } from '../support/api.ts';
import { callbackOf } from '../support/callbacks.ts';
import { messageIdOf, publish, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

const logsShape = z.object({ logs: z.array(z.object({ responseBody: z.optional(z.string()) })) });

describe('a published message', () => {
  it('arrives with its body, its content type and the service’s headers', async () => {
    const inbox = receiver.inbox();
    const answer = await publish(inbox.url, {
      body: '{"hello":"world"}',
      headers: { 'content-type': 'application/json' },
    });
    const [delivery] = await inbox.received(1);
    expect(delivery?.method).toBe('POST');
    expect(delivery?.body.toString()).toBe('{"hello":"world"}');
    expect(delivery?.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Svc-Queue',
      'svc-message-id': messageIdOf(answer),
      'svc-retried': '0',
      'svc-region': service.region,
      'webhook-id': messageIdOf(answer),
    });
    expect(delivery?.headers['svc-caller-ip']).toMatch(/^[0-9a-f.:]+$/);
    expect(delivery?.headers['authorization']).toBeUndefined();
  });

  it.each([
    ['nothing', 0],
    ['more than a row holds', 50_000],
    ['900 KB', 900 * 1024],
  ])('keeps a binary body of %s byte for byte', async (_title, size) => {
    const inbox = receiver.inbox();
    const body = Uint8Array.from(randomBytes(size));
    messageIdOf(await publish(inbox.url, { body, headers: { 'content-type': 'application/octet-stream' } }));
    const [delivery] = await inbox.received(1);
    expect(delivery?.body.equals(body)).toBe(true);
    expect(delivery?.headers['content-length']).toBe(String(size));
  });

  it('forwards headers without their prefix', async () => {
    const inbox = receiver.inbox();
    await publish(inbox.url, {
      headers: {
        'Svc-Forward-X-Tenant': 'acme',
        'Svc-Forward-Authorization': 'Basic eDp5',
        'X-Other': 'stays',
      },
    });
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers).toMatchObject({ 'x-tenant': 'acme', authorization: 'Basic eDp5' });
    expect(delivery?.headers['x-other']).toBeUndefined();
  });

  it('forwards every incoming header if asked to, except those that are not the sender’s', async () => {
    const inbox = receiver.inbox();
    await publish(inbox.url, {
      token: null,
      query: `svc_token=${encodeURIComponent(service.token)}&svc-header-forward=true`,
      headers: {
        'X-Hub-Signature': 'abc',
        Authorization: 'Bearer of-the-sender',
        'X-Forwarded-For': '1.2.3.4',
      },
    });
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers).toMatchObject({
      'x-hub-signature': 'abc',
      authorization: 'Bearer of-the-sender',
    });
    expect(delivery?.headers['x-forwarded-for']).toBeUndefined();
    expect(delivery?.target).not.toContain('token');
  });

  it('has its answer decoded in callbacks, in the log and in a dead letter', async () => {
    const failures = receiver.inbox();
    const inbox = receiver.inbox((_delivery, response) => {
      response.writeHead(400, { 'content-encoding': 'gzip' }).end(gzipSync('{"why":"zu groß"}'));
    });
    const messageId = messageIdOf(
      await publish(inbox.url, { headers: { 'Svc-Retries': '0', 'Svc-Failure-Callback': failures.url } }),
    );
    const [failure] = await failures.received(1);
    const told = failure && callbackOf(failure);
    expect(Buffer.from(told?.body ?? '', 'base64').toString()).toBe('{"why":"zu groß"}');
    expect(told?.header['Content-Encoding']).toEqual(['gzip']);
    const { logs } = logsShape.parse(await ok(api('GET', `/v2/logs?messageId=${messageId}`)));
    expect(logs.map(({ responseBody }) => responseBody)).toContain(
      Buffer.from('{"why":"zu groß"}').toString('base64'),
    );
    expect(await ok(api('GET', `/v2/dlq/${told?.dlqId ?? ''}`))).toMatchObject({
      responseBody: '{"why":"zu groß"}',
    });
  });

  it('can be configured by query parameters, which headers override', async () => {
    const inbox = receiver.inbox();
    await publish(inbox.url, {
      query: 'svc-method=PUT&svc-forward-x-a=from-query&svc-forward-x-b=also&page=2',
      headers: { 'Svc-Forward-X-A': 'from-header' },
    });
    const [delivery] = await inbox.received(1);
    expect(delivery?.method).toBe('PUT');
    expect(delivery?.headers).toMatchObject({ 'x-a': 'from-header', 'x-b': 'also' });
    expect(delivery?.target).toMatch(/^\/[a-z0-9]+\?page=2$/);
  });
});

describe('the Upstash dialect', () => {
  it('is understood in headers, and used to the destination', async () => {
    const inbox = receiver.inbox();
    const answer = await publish(inbox.url, {
      headers: { 'Upstash-Method': 'PUT', 'Upstash-Forward-X-Tenant': 'acme' },
    });
    const [delivery] = await inbox.received(1);
    expect(delivery?.method).toBe('PUT');
    expect(delivery?.headers).toMatchObject({
      'x-tenant': 'acme',
      'upstash-message-id': messageIdOf(answer),
      'upstash-retried': '0',
      'upstash-region': service.region,
    });
    expect(Object.keys(delivery?.headers ?? {}).filter((name) => name.startsWith('svc-'))).toEqual([]);
  });

  it('is used together with the other one if a publish has no setting that shows its dialect', async () => {
    const inbox = receiver.inbox();
    const messageId = messageIdOf(await publish(inbox.url));
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers).toMatchObject({
      'svc-message-id': messageId,
      'upstash-message-id': messageId,
      'svc-retried': '0',
      'upstash-retried': '0',
    });
  });

  it('is understood in the query, including its token', async () => {
    const inbox = receiver.inbox();
    await publish(inbox.url, {
      token: null,
      query: `qstash_token=${encodeURIComponent(service.token)}&upstash-method=PATCH&a=1`,
    });
    const [delivery] = await inbox.received(1);
    expect(delivery?.method).toBe('PATCH');
    expect(delivery?.target).toMatch(/\?a=1$/);
    expect(delivery?.headers['upstash-signature']).toBeDefined();
  });
});

describe('a delayed message', () => {
  it.each([
    ['Svc-Delay', (): string => '2s'],
    ['Svc-Not-Before', (): string => String(Math.ceil(Date.now() / 1000) + 2)],
  ])('is delivered at its time when %s is given', async (name, value) => {
    const inbox = receiver.inbox();
    const sentAt = Date.now();
    const given = value();
    const dueAt = name === 'Svc-Delay' ? sentAt + 2_000 : Number(given) * 1_000;
    await publish(inbox.url, { headers: { [name]: given } });
    const [delivery] = await inbox.received(1);
    expect(delivery?.at).toBeGreaterThanOrEqual(dueAt);
  });
});
