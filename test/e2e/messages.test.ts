import { describe, expect, it } from 'vitest';
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
import { errorOf, messageIdOf, publish } from '../support/publish.ts';
import type { Inbox } from '../support/receiver.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

const cancel = (filters: Parameters<typeof query>[0], body?: unknown) =>
  api('DELETE', `/v2/messages${query(filters)}`, { body });

/** Waits for a message with this delay in seconds, which is after any that was due before. */
async function pass(seconds: number): Promise<void> {
  const marker: Inbox = receiver.inbox();
  await publish(marker.url, { headers: { 'Svc-Delay': `${seconds}s` } });
  await marker.received(1);
}

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
    ['in a row of its own', 5_000],
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

  it('is gone once it is delivered', async () => {
    const inbox = receiver.inbox();
    const messageId = messageIdOf(await publish(inbox.url));
    await inbox.received(1);
    await eventually(
      () => isWaiting(messageId),
      (waits) => !waits,
    );
    expect((await api('DELETE', `/v2/messages/${messageId}`)).status).toBe(404);
    expect(await ok(cancel({ messageIds: messageId }))).toEqual({ cancelled: 0 });
  });

  it('is gone once it has failed', async () => {
    const inbox = receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const messageId = messageIdOf(await publish(inbox.url, { headers: { 'Svc-Retries': '0' } }));
    await eventually(
      () => isWaiting(messageId),
      (waits) => !waits,
    );
    expect((await api('DELETE', `/v2/messages/${messageId}`)).status).toBe(404);
  });
});

describe('a cancelled message', () => {
  it('that waited for its time is never delivered', async () => {
    const inbox = receiver.inbox();
    // It is cancelled before it is due, even on a slow machine.
    const messageId = messageIdOf(await publish(inbox.url, { headers: { 'Svc-Delay': '15s' } }));
    await ok(api('DELETE', `/v2/messages/${messageId}`));
    expect(await isWaiting(messageId)).toBe(false);
    await pass(16);
    expect(inbox.deliveries).toHaveLength(0);
  });

  it('that waited for its next attempt is not retried', async () => {
    const inbox = receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const callbacks = receiver.inbox();
    const messageId = messageIdOf(
      await publish(inbox.url, {
        // Long enough that the message is cancelled first, even on a slow machine.
        headers: { 'Svc-Retry-Delay': '15000', 'Svc-Failure-Callback': callbacks.url },
      }),
    );
    await logged({ messageId, state: 'RETRY' }, 1);
    await ok(api('DELETE', `/v2/messages/${messageId}`));
    await pass(16);
    expect(inbox.deliveries).toHaveLength(1);
    expect(callbacks.deliveries).toHaveLength(0);
    const states = (await logged({ messageIds: messageId }, 6)).map(({ state }) => state);
    expect(states).toEqual(['CANCELED', 'CANCEL_REQUESTED', 'RETRY', 'ERROR', 'ACTIVE', 'CREATED']);
  });

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
    ['repeated in the query', (ids) => cancel({ messageIds: ids })],
    ['separated by commas', (ids) => cancel({ messageIds: ids.join(',') })],
    ['in a JSON body', (ids) => cancel({}, { messageIds: ids })],
    ['twice', (ids) => cancel({ messageIds: [...ids, ...ids] })],
    ['with a filter, which is ignored', (ids) => cancel({ messageIds: ids, label: 'nobody-has-this' })],
    ['among unknown ones', (ids) => cancel({ messageIds: [...ids, 'msg_x', `${ids.join('')}~000000`] })],
  ])('are cancelled by their ids %s', async (_how, cancelThem) => {
    const ids = await three();
    const other = await publishDelayed(receiver.origin);
    expect(await ok(cancelThem(ids))).toEqual({ cancelled: 3 });
    expect(await Promise.all([...ids, other].map(isWaiting))).toEqual([false, false, false, true]);
    await ok(cancel({ messageIds: other }));
  });

  /** Two messages, and a filter that finds only the first. */
  interface Pair {
    readonly found: string;
    readonly other: string;
    readonly filters: Parameters<typeof query>[0];
  }
  const delayed = async (destination: string, headers: Record<string, string> = {}, path = 'publish') => {
    const answer = await api('POST', `/v2/${path}/${destination}`, {
      headers: { 'Svc-Delay': '10m', ...headers },
    });
    const text = JSON.stringify(answer.json);
    const id = /msg_[0-9A-Z]{26}/.exec(text)?.[0];
    if (id === undefined) throw new Error(text);
    return id;
  };
  it.each<[filter: string, make: () => Promise<Pair>]>([
    [
      'label',
      async () => {
        const label = unique('label');
        return {
          found: await delayed(receiver.origin, { 'Svc-Label': `x,${label}` }),
          other: await delayed(receiver.origin, { 'Svc-Label': `${label}-other` }),
          filters: { label },
        };
      },
    ],
    [
      'url',
      async () => {
        const { url } = receiver.inbox();
        return { found: await delayed(url), other: await delayed(`${url}/other`), filters: { url } };
      },
    ],
    [
      'url, with a comma in it',
      async () => {
        const url = `${receiver.inbox().url}/a,b`;
        return { found: await delayed(url), other: await delayed(`${url},c`), filters: { url } };
      },
    ],
    [
      'path',
      async () => {
        const url = `${receiver.inbox().url}/path`;
        const path = new URL(url).pathname;
        return { found: await delayed(`${url}?q=1`), other: await delayed(`${url}/x`), filters: { path } };
      },
    ],
    [
      'host',
      async () => {
        const host = `${unique('host')}.example.com`;
        return {
          found: await delayed(`https://${host}/a`),
          other: await delayed(`https://x.${host}/a`),
          filters: { host },
        };
      },
    ],
    [
      'topicName',
      async () => {
        const topicName = await makeGroup([{ url: receiver.origin }]);
        const other = await makeGroup([{ url: receiver.origin }]);
        return { found: await delayed(topicName), other: await delayed(other), filters: { topicName } };
      },
    ],
    [
      'queueName',
      async () => {
        const queueName = unique('queue');
        return {
          found: await delayed(receiver.origin, {}, `enqueue/${queueName}`),
          other: await delayed(receiver.origin),
          filters: { queueName },
        };
      },
    ],
    [
      'flowControlKey',
      async () => {
        const flowControlKey = unique('flow');
        const value = { 'Svc-Flow-Control-Value': 'parallelism=1' };
        return {
          found: await delayed(receiver.origin, { ...value, 'Svc-Flow-Control-Key': flowControlKey }),
          other: await delayed(receiver.origin, { ...value, 'Svc-Flow-Control-Key': `${flowControlKey}x` }),
          filters: { flowControlKey },
        };
      },
    ],
    [
      'callerIp and a label',
      async () => {
        const label = unique('label');
        const found = await delayed(receiver.origin, { 'Svc-Label': label });
        const { callerIP } = await getMessage(found);
        const other = await delayed(receiver.origin);
        expect(await ok(cancel({ label, callerIp: '203.0.113.9' }))).toMatchObject({ cancelled: 0 });
        return { found, other, filters: { label, callerIP } };
      },
    ],
    [
      'fromDate and toDate and a label',
      async () => {
        const label = unique('label');
        const other = await delayed(receiver.origin, { 'Svc-Label': label });
        const { createdAt } = await getMessage(other);
        const found = await eventually(
          () => delayed(receiver.origin, { 'Svc-Label': label }),
          () => true,
        );
        const from = Number((await getMessage(found))['createdAt']);
        expect(from).toBeGreaterThanOrEqual(Number(createdAt));
        const filters = { label, fromDate: Math.max(from, Number(createdAt) + 1), toDate: from };
        return { found, other, filters };
      },
    ],
    [
      'one of two values',
      async () => {
        const label = unique('label');
        return {
          found: await delayed(receiver.origin, { 'Svc-Label': label }),
          other: await delayed(receiver.origin, { 'Svc-Label': `${label}-other` }),
          filters: { label: [label, 'nobody-has-this'] },
        };
      },
    ],
    [
      'two filters, both of which must match',
      async () => {
        const label = unique('label');
        const { url } = receiver.inbox();
        return {
          found: await delayed(url, { 'Svc-Label': label }),
          other: await delayed(receiver.origin, { 'Svc-Label': label }),
          filters: { label, url },
        };
      },
    ],
  ])('are cancelled by %s', async (_filter, make) => {
    const { found, other, filters } = await make();
    // The searched list may lag behind its messages.
    await eventually(
      async () => {
        await ok(cancel(filters));
        return isWaiting(found);
      },
      (waits) => !waits,
    );
    expect(await isWaiting(other)).toBe(true);
    await ok(cancel({ messageIds: other }));
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

  it('are cancelled a few at a time if a count is given', async () => {
    const label = unique('label');
    await Promise.all(
      Array.from({ length: 5 }, () => publishDelayed(receiver.origin, { 'Svc-Label': label })),
    );
    await logged({ label, state: 'CREATED' }, 5);
    const some = await ok(cancel({ label, count: 2 }));
    expect(some).toMatchObject({ cancelled: 2 });
    expect(some).toHaveProperty('cursor');
    expect(await ok(cancel({ label }))).toMatchObject({ cancelled: 3 });
  });
});

describe('a wrong request', () => {
  it.each([
    'msg_x',
    'msg_01M7W4BM2WG14BG3V1YN3YTREK',
    'msg_01M7W4BM2WG14BG3V1YN3YTREK~000000',
    'dlq_01M7W4BM2WG14BG3V1YN3YTREK',
    '%C3%BC',
    'x'.repeat(3_000),
  ])('for the unknown message %s is a 404', async (messageId) => {
    for (const method of ['GET', 'DELETE']) {
      const answer = await api(method, `/v2/messages/${messageId}`);
      expect([answer.status, errorOf(answer)]).toEqual([404, expect.stringMatching(/^There is no message /)]);
    }
  });

  it('for one of a message’s own records is a 404', async () => {
    const inbox = receiver.inbox();
    const messageId = messageIdOf(await publish(inbox.url));
    await logged({ messageId, state: 'DELIVERED' }, 1);
    expect((await api('GET', `/v2/messages/${messageId}~000000`)).status).toBe(404);
  });

  it.each<[text: string, says: RegExp]>([
    ['?labels=x', /^"labels" is not a filter here; known are topicName, queueName, url, .*messageIds\.$/],
    ['?state=ACTIVE', /^"state" is not a filter here/],
    ['?label=', /^label is empty; a filter must have a value\.$/],
    ['?label=a,,b', /^label is empty/],
    ['?messageIds=', /^messageIds is empty/],
    ['?count=0', /^count is "0"; allowed is a whole number from 1 to 500\.$/],
    ['?count=501', /^count is "501"/],
    ['?fromDate=yesterday', /^fromDate is "yesterday"; allowed is a whole number/],
    ['?cursor=x', /^cursor is not one that this list handed out/],
    [
      `?messageIds=${Array.from({ length: 1_001 }, () => 'm').join(',')}`,
      /^messageIds has 1001 ids; allowed are 1000\.$/,
    ],
  ])('to cancel %s is refused', async (text, says) => {
    const answer = await api('DELETE', `/v2/messages${text}`);
    expect([answer.status, errorOf(answer)]).toEqual([400, expect.stringMatching(says)]);
  });

  it.each([{ messageIds: [] }, { messageIds: 'msg_x' }, { ids: ['msg_x'] }, {}, [], { messageIds: [''] }])(
    'to cancel with the body %j is refused',
    async (body) => {
      const answer = await api('DELETE', '/v2/messages', { body });
      expect([answer.status, errorOf(answer)]).toEqual([
        400,
        expect.stringContaining('allowed is {"messageIds"'),
      ]);
    },
  );
});
