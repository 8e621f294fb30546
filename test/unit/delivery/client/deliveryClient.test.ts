import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { TransientError } from '../../../../lambdas/error/transientError.ts';
import { parseAllowedDestinations, parseOwnHosts } from '../../../../lambdas/destination/addresses.ts';
import {
  createDeliveryClient,
  type DeliveryRequest,
} from '../../../../lambdas/delivery/client/deliveryClient.ts';
import type { Resolver } from '../../../../lambdas/delivery/client/nameResolver.ts';
import { limitForHangsMs } from '../../../support/limits.ts';

const allow = (...items: string[]) => ({ allowed: parseAllowedDestinations(items), own: new Set<string>() });
const loopback = allow('127.0.0.0/8', '::1/128');
const nothing = allow();

const open: { close(): void }[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  open.push({
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  });
  return (server.address() as AddressInfo).port;
}

const to = (url: string, more: Partial<DeliveryRequest> = {}): DeliveryRequest => ({
  url,
  method: 'POST',
  headers: [],
  body: Buffer.from('x'),
  timeoutMs: limitForHangsMs,
  maxResponseBytes: 1_000,
  ...more,
});

/** A resolver that gives these answers in order and counts the questions. */
function resolver(...answers: string[][]): Resolver & { asked: number } {
  const resolve = Object.assign(
    async () => {
      const addresses = answers[Math.min(resolve.asked, answers.length - 1)] ?? [];
      resolve.asked += 1;
      return Promise.resolve(
        addresses.map((address) => ({
          address,
          family: address.includes(':') ? (6 as const) : (4 as const),
        })),
      );
    },
    { asked: 0 },
  );
  return resolve;
}

describe('the outgoing HTTP client', () => {
  it.each([
    ['127.0.0.1', 'loopback'],
    ['169.254.169.254', 'the cloud’s metadata'],
    ['::ffff:127.0.0.1', 'IPv4-mapped'],
  ])('refuses a name that resolves to %s (%s), without a connection', async (address) => {
    let connections = 0;
    const port = await listen(
      createServer((_request, response) => response.end()).on('connection', () => connections++),
    );
    const client = createDeliveryClient(nothing, resolver(['93.184.216.34', address]));
    const response = await client(to(`http://innocent.example:${port}/`));
    expect(response.status).toBe(0);
    expect(response.error).toBe(
      `The destination innocent.example has the address ${address}, which is not public.`,
    );
    expect(connections).toBe(0);
  });

  it('refuses an unsafe address without a look-up', async () => {
    const port = await listen(createServer((_request, response) => response.end()));
    const client = createDeliveryClient(nothing);
    for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]']) {
      expect((await client(to(`http://${host}:${port}/`))).error).toContain('not a public address');
    }
  });

  it('refuses the service itself, under any name', async () => {
    let connections = 0;
    const port = await listen(
      createServer((_request, response) => response.end()).on('connection', () => connections++),
    );
    const own = parseOwnHosts([`localhost:${port}`, 'queue.example.com']);
    const rules = { allowed: parseAllowedDestinations(['127.0.0.0/8', '::1', 'innocent.example']), own };
    for (const [url, host, address] of [
      [`http://127.0.0.1:${port}/`, '127.0.0.1', '127.0.0.1'],
      [`http://[::1]:${port}/`, '::1', '::1'],
      [`http://localhost:${port}/`, 'localhost', '127.0.0.1'],
      [`http://innocent.example:${port}/`, 'innocent.example', '127.0.0.1'],
      ['https://QUEUE.example.com./', 'queue.example.com.', '93.184.216.34'],
    ] as const) {
      const { status, error } = await createDeliveryClient(rules, resolver([address]))(to(url));
      expect([status, error]).toEqual([
        0,
        `The destination ${host} is this service itself; messages to it would go in circles.`,
      ]);
    }
    expect(connections).toBe(0);
  });

  it('connects to the address that it checked, so a name that changes its answer gains nothing', async () => {
    const port = await listen(createServer((_request, response) => response.end('reached')));
    // Nothing listens at 127.0.0.2, the only allowed address. The second answer leads to the server.
    const rebinding = resolver(['127.0.0.2'], ['127.0.0.1']);
    const client = createDeliveryClient(allow('127.0.0.2/32'), rebinding);
    const first = await client(to(`http://rebinding.example:${port}/`));
    expect(first.error).toContain(`ECONNREFUSED 127.0.0.2:${port}`);
    expect(rebinding.asked).toBe(1);
    const second = await client(to(`http://rebinding.example:${port}/`));
    expect(second.error).toContain('127.0.0.1, which is not public');
  });

  it('tries four addresses of each family at most', async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => `127.0.${index >> 8}.${index & 255}`);
    const { error = '' } = await createDeliveryClient(
      loopback,
      resolver([...many, '::1']),
    )(to('http://many.example:1/'));
    expect(error.split('; ').length).toBe(5);
  });

  it('keeps connections alive and resolves once for each connection', async () => {
    let connections = 0;
    const server = createServer((_request, response) => response.end('ok')).on(
      'connection',
      () => connections++,
    );
    const port = await listen(server);
    const names = resolver(['127.0.0.1']);
    const client = createDeliveryClient(loopback, names);
    for (let index = 0; index < 5; index += 1) {
      expect((await client(to(`http://kept.example:${port}/`))).status).toBe(200);
    }
    expect([connections, names.asked]).toEqual([1, 1]);
  });

  it('tries once more on a new connection, because kept ones are often closed together', async () => {
    const server = createServer((_request, response) => {
      // Both requests are open before either is answered, so that two connections are kept.
      waiting.push(() => response.end('ok'));
      if (waiting.length === 2) for (const answer of waiting) answer();
      if (waiting.length > 2) response.end('ok');
    });
    const waiting: (() => void)[] = [];
    const requests = new Map<object, number>();
    server.prependListener('request', ({ socket }) => {
      const before = requests.get(socket) ?? 0;
      requests.set(socket, before + 1);
      if (before > 0) socket.destroy();
    });
    const port = await listen(server);
    const client = createDeliveryClient(loopback);
    const deliver = async (): Promise<number> => (await client(to(`http://127.0.0.1:${port}/`))).status;
    expect(await Promise.all([deliver(), deliver()])).toEqual([200, 200]);
    expect(await deliver()).toBe(200);
    expect([...requests.values()].sort()).toEqual([1, 1, 2]);
  });

  it('does not try again if a kept connection breaks within an answer', async () => {
    let requests = 0;
    const server = createServer((request, response) => {
      requests += 1;
      if (requests === 1) {
        response.end('ok');
        return;
      }
      const reset = (): void => {
        unsubscribe('http.client.response.finish', reset);
        request.socket.resetAndDestroy();
      };
      // Node’s client publishes this event when it has read an answer’s headers.
      subscribe('http.client.response.finish', reset);
      response.writeHead(200, { 'content-length': 100 });
      response.write('half');
    });
    const port = await listen(server);
    const client = createDeliveryClient(loopback);
    expect((await client(to(`http://127.0.0.1:${port}/`))).status).toBe(200);
    const { status, error } = await client(to(`http://127.0.0.1:${port}/`));
    expect([status, error, requests]).toEqual([
      0,
      'The destination closed the connection before its answer was complete.',
      2,
    ]);
  });

  it('asks for the certificate of a host name without its final dot', async () => {
    const asked = new Promise<string>((resolve) => {
      const server = createTlsServer({
        SNICallback: (name, done) => {
          resolve(name);
          done(new Error('There is no certificate.'));
        },
      });
      server.listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo;
        void createDeliveryClient(loopback, resolver(['127.0.0.1']))(to(`https://dotted.example.:${port}/`));
      });
      server.on('tlsClientError', () => undefined);
      open.push(server);
    });
    expect(await asked).toBe('dotted.example');
  });

  it('reads no more of an answer than its limit', async () => {
    const port = await listen(
      createServer((_request, response) => response.writeHead(202).end(Buffer.alloc(5_000_000))),
    );
    const response = await createDeliveryClient(loopback)(to(`http://127.0.0.1:${port}/`));
    expect([response.status, response.body.length]).toEqual([202, 1_000]);
  });

  it('returns every value of a repeated header', async () => {
    const port = await listen(
      createServer((_request, response) => response.setHeader('Set-Cookie', ['a=1', 'b=2']).end()),
    );
    const response = await createDeliveryClient(loopback)(to(`http://127.0.0.1:${port}/`));
    expect(response.headers.filter(([name]) => name === 'set-cookie')).toEqual([
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ]);
  });

  it('sends the path byte for byte, repeated headers, and the credentials of the URL', async () => {
    const seen: { url: string | undefined; raw: string[] }[] = [];
    const port = await listen(
      createServer((request, response) => {
        seen.push({ url: request.url, raw: request.rawHeaders });
        response.end();
      }),
    );
    await createDeliveryClient(loopback)(
      to(`http://user:p%40ss@127.0.0.1:${port}/a/../%2e/b//c?x=%2F&y`, {
        headers: [
          ['x-many', '1'],
          ['x-many', '2'],
        ],
      }),
    );
    expect(seen[0]?.url).toBe('/a/../%2e/b//c?x=%2F&y');
    const raw = seen[0]?.raw ?? [];
    expect(raw.filter((_value, index) => raw[index - 1] === 'x-many')).toEqual(['1', '2']);
    expect(raw).toContain(`Basic ${Buffer.from('user:p@ss').toString('base64')}`);
    expect(raw.filter((name) => name.toLowerCase() === 'host')).toHaveLength(1);
  });
});

describe('a process without free descriptors or memory', () => {
  it.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'])(
    'reports no attempt, with the reason: %s',
    async (code) => {
      const short: Resolver = () => Promise.reject(Object.assign(new Error('none left'), { code }));
      const attempt = createDeliveryClient(nothing, short)(to('http://example.com/'));
      await expect(attempt).rejects.toBeInstanceOf(TransientError);
    },
  );

  it('reports an attempt if the destination is the cause', async () => {
    const away: Resolver = () => Promise.reject(Object.assign(new Error('away'), { code: 'EADDRNOTAVAIL' }));
    expect(await createDeliveryClient(nothing, away)(to('http://example.com/'))).toMatchObject({
      status: 0,
      error: 'away',
    });
  });
});
