import { describe, expect, it } from 'vitest';
import { call, messageIdOf, publish, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();
const headers = { authorization: `Bearer ${service.token}` };

describe('HEAD', () => {
  it.each(['/v2/logs', '/console'])('is answered like GET without the body: %s', async (path) => {
    const [head, get] = await Promise.all([
      fetch(`${service.url}${path}`, { method: 'HEAD', headers }),
      fetch(`${service.url}${path}`, { headers }),
    ]);
    const typeOf = (response: Response) => response.headers.get('content-type');
    expect([head.status, typeOf(head), await head.text()]).toEqual([200, typeOf(get), '']);
    await get.body?.cancel();
  });

  it('is refused like GET', async () => {
    expect((await call('/v2/queues', { method: 'HEAD' })).status).toBe(401);
    expect((await call('/v2/messages/msg_1', { method: 'HEAD', headers })).status).toBe(404);
  });

  it.runIf(service.target === 'local')('says if a server on one machine is ready', async () => {
    expect((await call('/v2/ready', { method: 'HEAD' })).status).toBe(200);
    expect((await call('/v2/ready?probe=1')).status).toBe(200);
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

describe.runIf(service.target === 'local')('a name under `localhost`', () => {
  it('is this machine, if it may be reached', async () => {
    const inbox = receiver.inbox();
    messageIdOf(await publish(inbox.url.replace('127.0.0.1', 'app.localhost')));
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers['host']).toMatch(/^app\.localhost:\d+$/);
  });
});
