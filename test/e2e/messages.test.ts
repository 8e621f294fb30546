import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import {
  api,
  getMessage,
  isWaiting,
  listDlq,
  logged,
  ok,
  publishDelayed,
  query,
  unique,
} from '../support/api.ts';
import { makeGroup } from '../support/groups.ts';
import { eventually } from '../support/eventually.ts';
import { clockStage } from '../support/clockStage.ts';
import { messageIdOf, publish, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { expectRefusal } from '../support/refusals.ts';

const receiver = useReceiver();

type Filters = Parameters<typeof query>[0];

const logShape = z.object({ logs: z.array(z.object({ state: z.string() })) });

const cancel = (filters: Filters, body?: unknown) => api('DELETE', `/v2/messages${query(filters)}`, { body });

describe('a waiting message', () => {
  it('is shown with all its settings', async () => {
    const before = Date.now();
    const url = `${receiver.inbox().url}?a=1`;
    const messageId = messageIdOf(
      await publish(encodeURIComponent(url), {
        body: '{"ünï":1}',
        headers: {
          'Content-Type': 'application/json',
          'Svc-Method': 'PUT',
          'Svc-Delay': '10m',
          'Svc-Retries': '2',
          'Svc-Retry-Delay': '1000 * (1 + retried)',
          'Svc-Timeout': '20s',
          'Svc-Label': 'first,second',
          'Svc-Forward-X-Tenant': 'acme',
          'Svc-Callback': 'https://example.com/callback',
          'Svc-Failure-Callback': 'https://example.com/failure',
        },
      }),
    );
    const message = await getMessage(messageId);
    expect(message).toMatchObject({
      messageId,
      url,
      method: 'PUT',
      header: { 'Content-Type': ['application/json'], 'X-Tenant': ['acme'] },
      body: '{"ünï":1}',
      maxRetries: 2,
      retried: 0,
      retryDelayExpression: '1000 * (1 + retried)',
      timeout: 20,
      label: 'first',
      labels: ['first', 'second'],
      callback: 'https://example.com/callback',
      failureCallback: 'https://example.com/failure',
    });
    expect(message.callerIP).toMatch(/^[0-9a-f.:]+$/);
    const { createdAt, notBefore } = message;
    expect(createdAt).toBeGreaterThan(before - 60_000);
    expect(Number(notBefore) - Number(createdAt)).toBe(600_000);
    expect(message).not.toHaveProperty('bodyBase64');
    await ok(cancel({ messageIds: messageId }));
  });

  it.each([
    ['small', 4],
    ['in the bucket', 60_000],
  ])('is shown with a binary body in base64: %s', async (_title, size) => {
    const body = new Uint8Array(size).fill(0xff);
    const messageId = messageIdOf(
      await publish(receiver.origin, { body, headers: { 'Svc-Delay': '10m', 'Content-Type': 'image/png' } }),
    );
    const message = await getMessage(messageId);
    expect(message['bodyBase64']).toBe(Buffer.from(body).toString('base64'));
    expect(message).not.toHaveProperty('body');
    await ok(cancel({ messageIds: messageId }));
  });

  it('is shown between its attempts with their number', async () => {
    const inbox = receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const messageId = messageIdOf(await publish(inbox.url, { headers: { 'Svc-Retry-Delay': '600000' } }));
    const message = await eventually(
      () => getMessage(messageId),
      ({ retried }) => retried === 1,
    );
    expect(Number(message['nextDeliveryTime'])).toBeGreaterThan(Date.now() + 500_000);
    await ok(api('DELETE', `/v2/messages/${messageId}`));
  });
});

describe('a cancelled message', () => {
  it.runIf(service.target === 'local')(
    'that waited for its time, or for its next attempt, is never delivered',
    async () => {
      const stage = await clockStage();
      const { url, token } = stage;
      const inbox = receiver.inbox((_delivery, response) => response.writeHead(500).end());
      const callbacks = receiver.inbox();
      const send = async (path: string, headers: Record<string, string>): Promise<string> =>
        messageIdOf(await publish(`${inbox.url}/${path}`, { url, token, headers }));
      const ids = [
        await send('delayed', { 'Svc-Delay': '10m' }),
        await send('retried', { 'Svc-Retry-Delay': '600000', 'Svc-Failure-Callback': callbacks.url }),
      ];
      const statesOf = async (): Promise<readonly string[]> =>
        logShape
          .parse(await ok(api('GET', `/v2/logs?messageIds=${ids[1]}`, { url, token })))
          .logs.map(({ state }) => state);
      await eventually(statesOf, (states) => states.includes('RETRY'));
      for (const id of ids) await ok(api('DELETE', `/v2/messages/${id}`, { url, token }));
      await stage.advance(3_600_000);
      expect(inbox.deliveries).toHaveLength(1);
      expect(callbacks.deliveries).toHaveLength(0);
      expect(await statesOf()).toEqual([
        ...['CANCELED', 'CANCEL_REQUESTED', 'RETRY', 'ERROR', 'ACTIVE', 'CREATED'],
      ]);
    },
  );

  it('whose last attempt is in flight fails without a dead letter or callbacks', async () => {
    const callbacks = receiver.inbox();
    let answer = (): void => undefined;
    const inbox = receiver.inbox((_delivery, response) => {
      answer = () => {
        response.writeHead(500).end();
      };
    });
    const headers = {
      'Svc-Retries': '0',
      'Svc-Callback': callbacks.url,
      'Svc-Failure-Callback': callbacks.url,
    };
    const messageId = messageIdOf(await publish(inbox.url, { headers }));
    await inbox.received(1);
    await ok(api('DELETE', `/v2/messages/${messageId}`));
    answer();
    const states = (await logged({ messageIds: messageId }, 5)).map(({ state }) => state);
    expect(states.sort()).toEqual(['ACTIVE', 'CANCELED', 'CANCEL_REQUESTED', 'CREATED', 'ERROR']);
    expect((await listDlq({ messageId })).messages).toEqual([]);
    expect(callbacks.deliveries).toHaveLength(0);
  });

  it('cannot be cancelled twice', async () => {
    const messageId = await publishDelayed(receiver.origin);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => api('DELETE', `/v2/messages/${messageId}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404]);
  });
});

describe('many messages', () => {
  const three = () => Promise.all(Array.from({ length: 3 }, () => publishDelayed(receiver.origin)));

  it.each<[how: string, cancelThem: (ids: readonly string[]) => ReturnType<typeof cancel>]>([
    ['separated by commas, twice', (ids) => cancel({ messageIds: [...ids, ...ids].join(',') })],
    ['in a JSON body', (ids) => cancel({}, { messageIds: ids })],
    [
      'repeated in the query, with a filter, which is ignored, and unknown ones',
      (ids) => cancel({ messageIds: [...ids, 'msg_x', `${ids[0]}~000000`], label: 'nobody-has-this' }),
    ],
  ])('are cancelled by their ids %s', async (_how, cancelThem) => {
    const ids = await three();
    const other = await publishDelayed(receiver.origin);
    expect(await ok(cancelThem(ids))).toEqual({ cancelled: 3 });
    expect(await Promise.all([...ids, other].map(isWaiting))).toEqual([false, false, false, true]);
    await ok(cancel({ messageIds: other }));
  });

  it('are cancelled by filters, all of which must match', async () => {
    const [label, queueName, flowControlKey] = [unique('label'), unique('queue'), unique('flow')];
    const host = `${unique('host')}.example.com`;
    const url = `https://${host}/a,b`;
    const settings = { 'Svc-Label': `x,${label}`, 'Svc-Flow-Control-Value': 'parallelism=1' };
    const headers = { 'Svc-Delay': '10m', ...settings, 'Svc-Flow-Control-Key': flowControlKey };
    const make = async (path = `enqueue/${queueName}`) =>
      messageIdOf(await api('POST', `/v2/${path}/${encodeURIComponent(url)}`, { headers }));
    const { callerIP, createdAt } = await getMessage(await make());
    const dates = { fromDate: Number(createdAt) - 60_000, toDate: Number(createdAt) + 600_000 };
    const others: readonly Filters[] = [
      ...[{ label: `${label}-other` }, { url: `${url},c` }, { path: '/a' }, { host: `x.${host}` }],
      ...[{ queueName: 'other' }, { flowControlKey: `${flowControlKey}x` }, { callerIp: '203.0.113.9' }],
      ...[{ toDate: dates.fromDate }, { fromDate: dates.toDate }, { topicName: 'other' }],
    ];
    await logged({ label, state: 'CREATED' }, 1);
    for (const other of others)
      expect([other, await ok(cancel({ label, ...other }))]).toEqual([other, { cancelled: 0 }]);
    const matching: readonly Filters[] = [
      ...[{ label: [label, 'nobody-has-this'] }, { url }, { path: '/a,b', host }, { queueName }],
      ...[{ flowControlKey }, { label, callerIP, ...dates }],
    ];
    for (const filters of matching) {
      const found = await make();
      // The searched list may lag behind its messages.
      await eventually(
        async () => {
          await ok(cancel(filters));
          return isWaiting(found);
        },
        (waits) => !waits,
      );
    }
    const [topicName, other] = [
      await makeGroup([{ url: receiver.origin }]),
      await makeGroup([{ url: receiver.origin }]),
    ];
    for (const name of [topicName, other]) await ok(publish(name, { headers: { 'Svc-Delay': '10m' } }));
    await logged({ topicName: [topicName, other], state: 'CREATED' }, 2);
    expect(await ok(cancel({ topicName }))).toEqual({ cancelled: 1 });
    expect(await ok(cancel({ topicName: other }))).toEqual({ cancelled: 1 });
  });

  it('that match are all cancelled and counted once, including those between their attempts', async () => {
    const label = unique('label');
    const failing = receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const headers = { 'Svc-Label': label, 'Svc-Retry-Delay': '600000' };
    const retried = messageIdOf(await publish(failing.url, { headers }));
    await logged({ messageId: retried, state: 'RETRY' }, 1);
    const delivered = receiver.inbox();
    const done = messageIdOf(await publish(delivered.url, { headers }));
    await logged({ messageId: done, state: 'DELIVERED' }, 1);
    const waiting = await Promise.all(
      Array.from({ length: 30 }, () => publishDelayed(receiver.origin, { 'Svc-Label': label })),
    );
    await logged({ label, state: 'CREATED' }, 32);
    expect(await ok(cancel({ label }))).toEqual({ cancelled: 31 });
    expect(await Promise.all([retried, ...waiting].map(isWaiting))).not.toContain(true);
    expect(await ok(cancel({ label }))).toEqual({ cancelled: 0 });
  });
});

describe('a wrong request', () => {
  it.each([
    'msg_x',
    'msg_01M7W4BM2WG14BG3V1YN3YTREK~000000',
    'dlq_01M7W4BM2WG14BG3V1YN3YTREK',
    '%C3%BC',
    'x'.repeat(3_000),
  ])('for the unknown message %s is a 404', async (messageId) => {
    for (const method of ['GET', 'DELETE']) {
      await expectRefusal(api(method, `/v2/messages/${messageId}`), 404, /^There is no message /);
    }
  });

  it.each<[text: string, says: RegExp]>([
    [`?messageIds=${'m,'.repeat(1_000)}m`, /^messageIds has 1001 ids; allowed are 1000\.$/],
  ])('to cancel %s is refused', async (text, says) => {
    await expectRefusal(api('DELETE', `/v2/messages${text}`), 400, says);
  });
});
