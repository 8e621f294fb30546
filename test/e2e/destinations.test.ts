import { describe, expect, it } from 'vitest';
import { api, deadLettered, unique } from '../support/api.ts';
import { errorOf, messageIdOf, publish, service } from '../support/publish.ts';
import type { Delivery } from '../support/receiver.ts';
import { send } from '../support/send.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

/** Publishes with a path that no client library has changed. */
async function publishRaw(rawTail: string): Promise<number> {
  const headers = { authorization: `Bearer ${service.token}` };
  return (await send(service.url, { path: `/v2/publish/${rawTail}`, headers })).status;
}

describe('a destination', () => {
  it('whose slashes a gateway collapsed is restored', async () => {
    const inbox = receiver.inbox();
    expect(await publishRaw(`${inbox.url.replace('//', '/')}/x`)).toBe(200);
    await inbox.received(1);
  });

  // Emulators of AWS handle extra slashes differently.
  it.runIf(service.target === 'local')(
    'arrives unchanged if the operation before it has extra slashes',
    async () => {
      const inbox = receiver.inbox();
      const headers = { authorization: `Bearer ${service.token}` };
      const queue = unique('slashes');
      for (const operation of ['/v2//publish', '//v2/publish', `/v2//enqueue//${queue}`]) {
        const { status } = await send(service.url, { path: `${operation}/${inbox.url}/a//b/?q=1`, headers });
        expect([operation, status]).toEqual([operation, 200]);
      }
      const own = new URL(inbox.url).pathname;
      const targets = (await inbox.received(3)).map(({ target }) => target);
      expect(new Set(targets)).toEqual(new Set([`${own}/a//b/?q=1`]));
      for (const path of ['/v2/queues/', `/v2//queues//${queue}/`, '/v2/dlq/', '//v2/logs']) {
        expect([path, (await send(service.url, { method: 'GET', path, headers })).status]).toEqual([
          path,
          200,
        ]);
      }
    },
  );

  it('that is percent-encoded as a whole is decoded once', async () => {
    const inbox = receiver.inbox();
    const tail = '/a%2Fb?x=1&y=%26&svc-retries=9';
    expect(await publishRaw(encodeURIComponent(`${inbox.url}${tail}`))).toBe(200);
    const [delivery] = await inbox.received(1);
    expect(delivery?.target).toBe(`${new URL(inbox.url).pathname}${tail}`);
  });
});

const copyable = ({ headers }: Delivery): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => !['host', 'connection', 'content-length'].includes(name)),
  );

describe('the service itself', () => {
  /** All APIs, under every name that they have on this machine. */
  const urls = [
    service.url,
    service.publishUrl,
    service.management.url,
    ...(service.otherUrl === undefined ? [] : [service.otherUrl]),
  ];
  const spellings = urls.flatMap((url) => {
    const { hostname, port } = new URL(url);
    const local = [
      '127.0.0.1',
      '127.1',
      'localhost',
      'LOCALHOST.',
      'app.localhost',
      '[::1]',
      '[::ffff:127.0.0.1]',
    ];
    return (hostname === '127.0.0.1' ? local : [hostname, hostname.toUpperCase(), `${hostname}.`]).map(
      (host) => `http://${host}${port === '' ? '' : `:${port}`}`,
    );
  });

  it('is refused as a destination in any spelling', async () => {
    for (const origin of spellings) {
      const answer = await publish(`${origin}/v2/publish/http://example.com/?svc_token=${service.token}`);
      expect([origin, answer.status, errorOf(answer)]).toEqual([
        origin,
        403,
        expect.stringContaining('this service itself'),
      ]);
    }
  });

  it('is refused as a callback, in a batch, and as an endpoint of a URL group', async () => {
    const self = `${service.url}/v2/publish/http://example.com`;
    const inbox = receiver.inbox();
    for (const header of ['Svc-Callback', 'Svc-Failure-Callback']) {
      expect((await publish(inbox.url, { headers: { [header]: self } })).status).toBe(403);
    }
    const batch = await api('POST', '/v2/batch', {
      body: [{ destination: self }, { destination: inbox.url }],
    });
    expect(batch.json).toMatchObject([{ status: 403 }, { messageId: expect.any(String) as string }]);
    const group = await api('POST', `/v2/topics/${unique('self')}/endpoints`, {
      body: { endpoints: [{ url: self }] },
    });
    expect(group.status).toBe(403);
  });

  const { user, password, url: managementUrl } = service.management;
  it.each([
    ['messaging', service.url, '/v2/publish/', `Bearer ${service.token}`, 'POST'],
    ['publishing', service.publishUrl, '/v2/publish/', `Bearer ${service.token}`, 'POST'],
    [
      'management',
      managementUrl,
      '/v2/svc/users?next=',
      `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
      'GET',
    ],
  ])(
    'recognizes its own delivery to the %s API under any host',
    async (_api, url, path, authorization, method) => {
      // A proxy unknown to the service. It also represents another region and a custom domain.
      const answers: number[] = [];
      const proxy = receiver.inbox((delivery, response) => {
        const target = delivery.target.slice(delivery.target.indexOf('/v2/'));
        const body = method === 'POST' ? '{}' : null;
        void fetch(`${url}${target}`, { method, headers: copyable(delivery), body }).then(async (answer) => {
          answers.push(answer.status);
          response.writeHead(answer.status).end(await answer.text());
        });
      });
      const end = receiver.inbox();
      const messageId = messageIdOf(
        await publish(encodeURIComponent(`${proxy.url}${path}${end.url}`), {
          headers: { 'Svc-Retries': '0', 'Svc-Method': method, 'Svc-Forward-Authorization': authorization },
        }),
      );
      const [deadLetter] = await deadLettered({ messageId }, 1);
      expect([deadLetter?.responseStatus, answers, end.deliveries]).toEqual([403, [403], []]);
    },
  );

  it('accepts a request with a delivery’s headers from a receiver that copies them', async () => {
    const end = receiver.inbox();
    const statuses: Promise<number>[] = [];
    const copying = receiver.inbox((delivery, response) => {
      const answer = fetch(`${service.url}/v2/publish/${end.url}`, {
        method: 'POST',
        headers: { ...copyable(delivery), authorization: `Bearer ${service.token}` },
        body: delivery.body.toString(),
      });
      statuses.push(
        answer.then(({ status }) => {
          response.writeHead(status).end();
          return status;
        }),
      );
    });
    // The second path resembles an API’s, but no operation has it.
    for (const path of ['/hook', '/v2/hook'])
      messageIdOf(await publish(`${copying.url}${path}`, { body: 'x' }));
    await end.received(2);
    // A message may arrive before the answer to its publish.
    expect(await Promise.all(statuses)).toEqual([200, 200]);
  });
});
