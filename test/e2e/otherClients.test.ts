import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { api, ok, unique } from '../support/api.ts';
import { call, messageIdOf, publish, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();
const headers = { authorization: `Bearer ${service.token}` };

describe('HEAD', () => {
  it.each(['/v2/health', '/v2/openapi.json', '/v2/queues', '/v2/metrics', '/v2/logs', '/console'])(
    'is answered like GET without the body: %s',
    async (path) => {
      const [head, get] = await Promise.all([
        fetch(`${service.url}${path}`, { method: 'HEAD', headers }),
        fetch(`${service.url}${path}`, { headers }),
      ]);
      const contentType = get.headers.get('content-type');
      expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
        200,
        contentType,
        '',
      ]);
      await get.body?.cancel();
    },
  );

  it('is refused like GET', async () => {
    expect((await call('/v2/queues', { method: 'HEAD' })).status).toBe(401);
    expect((await call('/v2/messages/msg_1', { method: 'HEAD', headers })).status).toBe(404);
  });

  it.runIf(service.target === 'local')('says if a server on one machine is ready', async () => {
    expect((await call('/v2/ready', { method: 'HEAD' })).status).toBe(200);
    expect((await call('/v2/ready?probe=1')).status).toBe(200);
  });
});

describe('the name of an operation', () => {
  it('may have another case, and the destination’s part is kept', async () => {
    const inbox = receiver.inbox();
    const scheduleId = unique('Schedule');
    const cron = { ...headers, 'Upstash-Cron': '0 0 1 1 *', 'Upstash-Schedule-Id': scheduleId };
    const made = await call(`/v2/Schedules/${inbox.url}/Path`, { method: 'POST', headers: cron });
    expect(made.json).toEqual({ scheduleId });
    const shown = await ok(api('GET', `/v2/Schedules/${scheduleId}`));
    expect(shown).toMatchObject({ scheduleId, destination: `${inbox.url}/Path` });
    await ok(api('DELETE', `/v2/SCHEDULES/${scheduleId}`));
    expect((await call(`/v2/schedules/${scheduleId}`, { headers })).status).toBe(404);
  });
});

describe('headers of the publisher’s own request, forwarded by name,', () => {
  it('leave out those of its connection and of gateways', async () => {
    const inbox = receiver.inbox();
    const answer = await publish(inbox.url, {
      headers: {
        ...{
          'Svc-Forward-Host': 'shop.example.com',
          'Svc-Forward-Content-Length': '7',
          'Svc-Forward-TE': 'trailers',
        },
        ...{ 'Svc-Forward-Connection': 'keep-alive', 'Svc-Forward-Transfer-Encoding': 'chunked' },
        ...{ 'Svc-Forward-Accept-Encoding': 'gzip', 'Svc-Forward-X-Forwarded-For': '203.0.113.9' },
        ...{ 'Svc-Forward-X-Tenant': 'acme', 'Svc-Callback-Forward-Host': 'shop.example.com' },
      },
      body: 'hello',
    });
    messageIdOf(answer);
    const [delivery] = await inbox.received(1);
    const names = Object.keys(delivery?.headers ?? {});
    expect(delivery?.headers).toMatchObject({ 'x-tenant': 'acme', 'content-length': '5' });
    expect(delivery?.headers['host']).toBe(new URL(inbox.url).host);
    for (const name of ['te', 'transfer-encoding', 'accept-encoding', 'x-forwarded-for']) {
      expect(names).not.toContain(name);
    }
    expect(delivery?.body.toString()).toBe('hello');
  });
});

describe.runIf(service.target === 'local')('a head', () => {
  it('that is larger than Node reads gets 431, too', async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(`GET /v2/health HTTP/1.1\r\nHost: x\r\nX-Large: ${'a'.repeat(70_000)}\r\n\r\n`);
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toMatch(
      /"error":"The request line and headers together exceed 10240 bytes\.","code":"head_too_large"/,
    );
  });
});

describe.runIf(service.target === 'local')('a name under `localhost`', () => {
  it('is this machine, if it may be reached', async () => {
    const inbox = receiver.inbox();
    messageIdOf(await publish(inbox.url.replace('127.0.0.1', 'app.localhost')));
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers['host']).toMatch(/^app\.localhost:\d+$/);
  });
});
