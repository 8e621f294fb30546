import { describe, expect, it } from 'vitest';
import { callbackOf } from '../support/callbacks.ts';
import { messageIdOf, publish } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

describe('a message whose destination fails', () => {
  it('is retried until it succeeds, with a callback for each attempt', async () => {
    const callbacks = receiver.inbox();
    const inbox = receiver.inbox((_delivery, response, before) => {
      response.writeHead(before < 2 ? 500 : 201, { 'x-try': String(before) }).end(`answer ${before}`);
    });
    const messageId = messageIdOf(
      await publish(inbox.url, {
        body: 'work',
        headers: {
          'Svc-Retries': '3',
          'Svc-Retry-Delay': '1000 * (1 + retried)',
          'Svc-Callback': callbacks.url,
          'Svc-Callback-Method': 'PUT',
          'Svc-Callback-Forward-X-Note': 'for the callback',
          'Svc-Label': 'first,second',
        },
      }),
    );
    const tries = await inbox.received(3);
    expect(tries.map(({ headers }) => headers['svc-retried'])).toEqual(['0', '1', '2']);
    expect(tries.map(({ body }) => body.toString())).toEqual(['work', 'work', 'work']);
    const waits = [1, 2].map((index) => (tries[index]?.at ?? 0) - (tries[index - 1]?.at ?? 0));
    expect(waits[0]).toBeGreaterThanOrEqual(1_000);
    expect(waits[1]).toBeGreaterThanOrEqual(2_000);

    const called = await callbacks.received(3);
    const bodies = called.map(callbackOf).sort((one, other) => one.retried - other.retried);
    expect(bodies.map(({ status, retried }) => [status, retried])).toEqual([
      [500, 0],
      [500, 1],
      [201, 2],
    ]);
    expect(bodies[2]).toMatchObject({
      maxRetries: 3,
      sourceMessageId: messageId,
      url: inbox.url,
      method: 'POST',
      body: Buffer.from('answer 2').toString('base64'),
      sourceBody: Buffer.from('work').toString('base64'),
    });
    expect(bodies[2]?.header['X-Try']).toEqual(['2']);
    expect(bodies[2]?.dlqId).toBeUndefined();
    expect(Number(bodies[2]?.createdAt)).toBeGreaterThan(1_700_000_000_000);
    for (const callback of called) {
      expect(callback.method).toBe('PUT');
      expect(callback.headers).toMatchObject({
        'x-note': 'for the callback',
        'content-type': 'application/json',
      });
      expect(callback.headers['svc-message-id']).not.toBe(messageId);
      expect(callback.headers['svc-signature']).toBeDefined();
    }
  });

  it('becomes a dead letter when its retries are used up, and is reported to the failure callback', async () => {
    const callbacks = receiver.inbox();
    const failures = receiver.inbox();
    const inbox = receiver.inbox((_delivery, response) => {
      response.writeHead(503, { 'content-type': 'text/plain' }).end('out of order');
    });
    const messageId = messageIdOf(
      await publish(inbox.url, {
        body: 'work',
        headers: {
          'Svc-Retries': '1',
          'Svc-Retry-Delay': '0',
          'Svc-Callback': callbacks.url,
          'Svc-Failure-Callback': failures.url,
          'Svc-Failure-Callback-Forward-X-Alarm': 'yes',
          'Svc-Forward-X-Tenant': 'acme',
        },
      }),
    );
    const [failure] = await failures.received(1);
    await callbacks.received(2);
    expect(inbox.deliveries).toHaveLength(2);
    expect(failure?.headers['x-alarm']).toBe('yes');
    expect(failure && callbackOf(failure)).toMatchObject({
      status: 503,
      retried: 1,
      maxRetries: 1,
      sourceMessageId: messageId,
      body: Buffer.from('out of order').toString('base64'),
      sourceHeader: { 'X-Tenant': 'acme' },
    });
    expect(failure && callbackOf(failure).dlqId).toMatch(/^dlq_/);
  });

  it('is not retried after an answer that forbids it', async () => {
    const failures = receiver.inbox();
    const inbox = receiver.inbox((_delivery, response) => {
      response.writeHead(489, { 'Svc-NonRetryable-Error': 'true' }).end();
    });
    await publish(inbox.url, {
      headers: { 'Svc-Retries': '3', 'Svc-Retry-Delay': '0', 'Svc-Failure-Callback': failures.url },
    });
    const [failure] = await failures.received(1);
    expect(failure && callbackOf(failure)).toMatchObject({ status: 489, retried: 0, maxRetries: 3 });
    expect(inbox.deliveries).toHaveLength(1);
  });

  it('counts a redirect as a failure, and does not follow it', async () => {
    const elsewhere = receiver.inbox();
    const failures = receiver.inbox();
    const inbox = receiver.inbox((_delivery, response) => {
      response.writeHead(307, { location: elsewhere.url }).end();
    });
    await publish(inbox.url, { headers: { 'Svc-Retries': '0', 'Svc-Failure-Callback': failures.url } });
    const [failure] = await failures.received(1);
    expect(failure && callbackOf(failure).status).toBe(307);
    expect(elsewhere.deliveries).toHaveLength(0);
  });
});

describe('a callback', () => {
  it('has a large response shortened so that the callback fits the largest message', async () => {
    const callbacks = receiver.inbox();
    const inbox = receiver.inbox((_delivery, response) =>
      response.writeHead(200).end(Buffer.alloc(4_500_000, 'x')),
    );
    await publish(inbox.url, { headers: { 'Svc-Callback': callbacks.url } });
    const [callback] = await callbacks.received(1);
    expect(callback?.body.length).toBeLessThanOrEqual(4 * 1_048_576);
    expect(callback?.body.length).toBeGreaterThan(4 * 1_048_576 - 100);
    expect(callback && Buffer.from(callbackOf(callback).body, 'base64').every((byte) => byte === 0x78)).toBe(
      true,
    );
  });

  it('is a separate message with its own retries', async () => {
    const callbacks = receiver.inbox((_delivery, response, before) => {
      response.writeHead(before === 0 ? 500 : 200).end();
    });
    const inbox = receiver.inbox();
    await publish(inbox.url, {
      headers: {
        'Svc-Callback': callbacks.url,
        'Svc-Callback-Retry-Delay': '500',
        'Svc-Callback-Delay': '1s',
      },
    });
    const [message] = await inbox.received(1);
    const called = await callbacks.received(2);
    expect(called.map(({ headers }) => headers['svc-retried'])).toEqual(['0', '1']);
    expect(new Set(called.map(({ headers }) => headers['svc-message-id'])).size).toBe(1);
    expect((called[0]?.at ?? 0) - (message?.at ?? 0)).toBeGreaterThanOrEqual(990);
  });
});
