import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, deadLettered, getMessage, listDlq, listLogs, logged, ok, unique } from '../support/api.ts';
import { callbackOf } from '../support/callbacks.ts';
import { call, errorOf, messageIdOf, publish, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

/** Only the destination gets credentials in a URL (`user:password@`). */

const receiver = useReceiver();

const secret = 'p4ssw0rd';
const basic = `Basic ${Buffer.from(`user:${secret}`).toString('base64')}`;
const withCredentials = (url: string, password = secret): string =>
  url.replace('http://', `http://user:${password}@`);

/** The destination is in the path, because `fetch` refuses URLs with credentials. */
const send = (path: string, headers: Record<string, string> = {}) =>
  call(path, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.token}`, ...headers },
    body: 'work',
  });

const scheduleShape = z.object({ destination: z.string(), callback: z.string() });

const claimsOf = (jwt: string | undefined): unknown =>
  JSON.parse(Buffer.from(jwt?.split('.')[1] ?? '', 'base64url').toString());

describe('the credentials in a URL', () => {
  it('are used for the delivery and its retries, and shown nowhere', async () => {
    const inbox = receiver.inbox((_delivery, response) => response.writeHead(500).end('no'));
    const callback = receiver.inbox((_delivery, response) => response.writeHead(500).end('no'));
    const label = unique('label');
    const headers = {
      'svc-label': label,
      'svc-retries': '1',
      'svc-retry-delay': '0',
      'svc-callback': withCredentials(`${callback.url}/done`),
      'svc-callback-retries': '0',
      'svc-failure-callback': withCredentials(`${callback.url}/failed`),
      'svc-failure-callback-retries': '0',
    };
    const waiting = messageIdOf(
      await publish(withCredentials(inbox.url), { headers: { ...headers, 'svc-delay': '10m' } }),
    );
    expect(await getMessage(waiting)).toMatchObject({
      url: inbox.url,
      callback: `${callback.url}/done`,
      failureCallback: `${callback.url}/failed`,
    });
    messageIdOf(await publish(withCredentials(inbox.url), { headers }));
    const deliveries = await inbox.received(2);
    const told = await callback.received(3);
    for (const delivery of [...deliveries, ...told]) expect(delivery.headers['authorization']).toBe(basic);
    // Four dead letters: the message and its three callbacks.
    const dead = await deadLettered({ label }, 4);
    const claims = deliveries.map((delivery) => claimsOf(delivery.headers['svc-signature']));
    expect(claims).toMatchObject([{ sub: inbox.url }, { sub: inbox.url }]);
    const shown = [
      await getMessage(waiting),
      dead,
      ...(await Promise.all(dead.map(({ dlqId }) => ok(api('GET', `/v2/dlq/${dlqId}`))))),
      await listLogs({ label }),
      told.map(callbackOf),
      claims,
    ];
    expect(JSON.stringify(shown)).not.toContain(secret);
    for (const url of [inbox.url, withCredentials(inbox.url), withCredentials(inbox.url, 'other')]) {
      expect((await listDlq({ url, label })).messages).toHaveLength(1);
      expect((await logged({ url, label, state: 'FAILED' }, 1)).length).toBe(1);
    }
    expect(await ok(api('DELETE', `/v2/messages?url=${encodeURIComponent(inbox.url)}`))).toMatchObject({
      cancelled: 1,
    });

    const [own] = (await listDlq({ url: inbox.url, label })).messages;
    await ok(api('POST', `/v2/dlq/retry/${own?.dlqId ?? ''}`), 201);
    const again = await inbox.received(3);
    expect(again[2]?.headers['authorization']).toBe(basic);
  });

  it('are in no answer that refuses a URL', async () => {
    const { host } = new URL(service.url);
    for (const destination of [
      `http://user:${secret}@10.0.0.1/`,
      `http://user:${secret}@${host}/`,
      `http://user:${secret}@host:port/`,
      `http%3A%2F%2Fuser%3A${secret}%40%ff`,
    ]) {
      const answer = await send(`/v2/publish/${destination}`);
      expect([400, 403]).toContain(answer.status);
      expect(errorOf(answer)).not.toContain(secret);
    }
    const callback = await publish(receiver.origin, {
      headers: { 'svc-callback': `http://user:${secret}@10.0.0.1/` },
    });
    expect(callback.status).toBe(403);
    expect(errorOf(callback)).not.toContain(secret);
  });

  it('are kept by a URL group’s endpoints that are written back as they are shown', async () => {
    const [one, two] = [receiver.inbox(), receiver.inbox()];
    const callback = receiver.inbox();
    const group = unique('group');
    const path = `/v2/topics/${group}`;
    const add = (...endpoints: object[]) => ok(api('POST', `${path}/endpoints`, { body: { endpoints } }));
    await add({ url: withCredentials(one.url), name: 'one' }, { url: withCredentials(two.url) });
    const headers = { 'Svc-Callback': withCredentials(callback.url) };
    const patched = await ok(api('PATCH', path, { body: { headers } }));
    const shown = (await ok(api('GET', path))) as { endpoints: object[]; headers: object };
    expect(shown.endpoints).toEqual([{ url: one.url, name: 'one' }, { url: two.url }]);
    expect(shown.headers).toEqual({ 'Svc-Callback': [callback.url] });

    await add(...shown.endpoints);
    await ok(api('PATCH', path, { body: { headers: shown.headers } }));
    const published = await ok(send(`/v2/publish/${group}`));
    const groups = await ok(api('GET', '/v2/topics'));
    expect(published).toMatchObject([{ url: one.url }, { url: two.url }]);
    expect(JSON.stringify([patched, published, groups])).not.toContain(secret);
    const deliveries = [
      ...(await one.received(1)),
      ...(await two.received(1)),
      ...(await callback.received(2)),
    ];
    expect(deliveries.map((delivery) => delivery.headers['authorization'])).toEqual([
      basic,
      basic,
      basic,
      basic,
    ]);

    // New credentials for the same URL replace the old ones. Another URL has none, even with the same name.
    await add({ url: withCredentials(one.url, 'new'), name: 'one' });
    await ok(send(`/v2/publish/${group}`));
    const [, changed] = await one.received(2);
    expect(changed?.headers['authorization']).toBe(`Basic ${Buffer.from('user:new').toString('base64')}`);
    await add({ url: `${one.url}/other`, name: 'one' });
    await ok(api('DELETE', `${path}/endpoints`, { body: { endpoints: [{ url: two.url }] } }));
    expect(await ok(api('GET', path))).toMatchObject({
      endpoints: [{ url: `${one.url}/other`, name: 'one' }],
    });
    await ok(send(`/v2/publish/${group}`));
    const [, , moved] = await one.received(3);
    expect(moved?.headers['authorization']).toBeUndefined();
    await ok(api('DELETE', path));
  });

  it('are kept by a schedule that is written back as it is shown', async () => {
    const id = unique('schedule');
    const create = (destination: string, callback: string) =>
      ok(
        send(`/v2/schedules/${destination}`, {
          'svc-cron': '0 0 29 2 *',
          'svc-schedule-id': id,
          'svc-callback': callback,
        }),
      );
    const inbox = receiver.inbox();
    await create(withCredentials(`${inbox.url}/a?b=c`), withCredentials(`${inbox.url}/done`));
    const shown = scheduleShape.parse(await ok(api('GET', `/v2/schedules/${id}`)));
    expect(shown).toEqual({ destination: `${inbox.url}/a?b=c`, callback: `${inbox.url}/done` });
    expect(JSON.stringify(await ok(api('GET', '/v2/schedules')))).not.toContain(secret);

    await create(shown.destination, shown.callback);
    messageIdOf(await api('POST', `/v2/schedules/${id}/run`));
    const deliveries = await inbox.received(2);
    expect(deliveries.map(({ target }) => target.replace(/^\/\w+/, ''))).toEqual(['/a?b=c', '/done']);
    for (const { headers } of deliveries) expect(headers['authorization']).toBe(basic);
    await ok(api('DELETE', `/v2/schedules/${id}`));
  });
});
