import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { HttpRequest } from '@smithy/core/protocols';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Sender, type SenderOptions } from '../../lambdas/aws/sender.ts';

/** What `makeLean.test.ts` sees of it through a client is not repeated here. */

let server: Server;
let port: number;
let answer: RequestListener;
beforeAll(async () => {
  server = createServer((request, response) => {
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  answer = (request, response) => {
    request.resume().once('end', () => response.end('{}'));
  };
});

const minuteMs = 60_000;
const senderWith = (options: Partial<SenderOptions> = {}): Sender =>
  new Sender({ connectionTimeout: minuteMs, socketTimeout: minuteMs, maxSockets: 10, ...options });

const requestOf = (more: Partial<HttpRequest> = {}): HttpRequest =>
  new HttpRequest({
    protocol: 'http:',
    hostname: '127.0.0.1',
    port,
    method: 'POST',
    path: '/',
    headers: { host: `127.0.0.1:${port}`, 'content-length': '2' },
    body: '{}',
    ...more,
  });

describe('a sender of AWS clients', () => {
  it('brings the whole answer, with the headers that the SDK reads', async () => {
    answer = (request, response) => {
      request.resume().once('end', () => {
        response.writeHead(400, {
          'Content-Type': 'application/x-amz-json-1.0',
          'X-Amzn-RequestId': 'id',
          'X-Amzn-Query-Error': 'Kind;Sender',
          Server: 'Server',
        });
        response.write('{"a"');
        setImmediate(() => response.end(':1}'));
      });
    };
    const { response } = await senderWith().handle(requestOf());
    expect(response.statusCode).toBe(400);
    expect(String(response.body)).toBe('{"a":1}');
    expect(response.headers).toEqual({
      'content-type': 'application/x-amz-json-1.0',
      'x-amzn-requestid': 'id',
      'x-amzn-query-error': 'Kind;Sender',
      date: response.headers['date'],
    });
  });

  it.each(['{"n":"Ünïcode"}', Buffer.from('{"n":"Ünïcode"}')])(
    'sends %s as it is, and a query',
    async (body) => {
      let got = '';
      answer = (request, response) => {
        request.setEncoding('utf8').on('data', (text: string) => (got += text));
        request.once('end', () => response.end(request.url));
      };
      const headers = { host: 'any', 'content-length': String(Buffer.byteLength(body)) };
      const query = { clientToken: 'a b', list: ['1', '2'] };
      const { response } = await senderWith().handle(requestOf({ path: '/schedules', headers, query, body }));
      expect(got).toBe('{"n":"Ünïcode"}');
      expect(String(response.body)).toBe('/schedules?clientToken=a%20b&list=1&list=2');
    },
  );

  it('uses a connection again', async () => {
    const sender = senderWith({ maxSockets: 1 });
    const ports = new Set<number | undefined>();
    answer = (request, response) => {
      ports.add(request.socket.remotePort);
      request.resume().once('end', () => response.end('{}'));
    };
    await Promise.all([1, 2, 3].map(() => sender.handle(requestOf())));
    await sender.handle(requestOf());
    expect(ports.size).toBe(1);
    sender.destroy();
  });

  it.each<[string, RequestListener]>([
    ['before the first byte', () => undefined],
    [
      'within the answer',
      (_request, response) => {
        response.writeHead(200, { 'content-length': 100 });
        response.write('{');
      },
    ],
  ])('gives up a service that is silent %s', async (_, silent) => {
    const sender = senderWith({ socketTimeout: 500 });
    await sender.handle(requestOf());
    // On the connection that is open already, too.
    answer = silent;
    const sent = sender.handle(requestOf());
    await expect(sent).rejects.toMatchObject({
      name: 'TimeoutError',
      message: '127.0.0.1 was silent for 500 ms.',
    });
  });

  it('gives up a service that never ends the TLS handshake', async () => {
    const silent = createTcpServer();
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const address = silent.address() as AddressInfo;
    const request = requestOf({ protocol: 'https:', port: address.port });
    await expect(senderWith({ socketTimeout: 500 }).handle(request)).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    silent.close();
  });

  it('goes on with an answer that comes slowly', async () => {
    answer = (_request, response) => {
      let left = 8;
      const timer = setInterval(() => {
        left -= 1;
        if (left > 0) response.write('x');
        else {
          clearInterval(timer);
          response.end();
        }
      }, 300);
    };
    const { response } = await senderWith({ socketTimeout: 2_000 }).handle(requestOf());
    expect(String(response.body)).toBe('xxxxxxx');
  });

  it('counts the wait for a free connection as connecting', async () => {
    const sender = senderWith({ connectionTimeout: 50, maxSockets: 1 });
    let finish: (() => void) | undefined;
    const isThere = new Promise<void>((there) => {
      answer = (request, response) => {
        request.resume();
        finish = () => response.end('{}');
        there();
      };
    });
    const first = sender.handle(requestOf());
    await isThere;
    await expect(sender.handle(requestOf())).rejects.toMatchObject({
      name: 'TimeoutError',
      message: 'There was no connection to 127.0.0.1 in 50 ms.',
    });
    finish?.();
    await expect(first).resolves.toBeDefined();
  });

  it('names an end without an answer as the SDK does', async () => {
    answer = (request) => request.socket.destroy();
    await expect(senderWith().handle(requestOf())).rejects.toMatchObject({
      name: 'TimeoutError',
      code: 'ECONNRESET',
    });
  });

  it('stops when its caller gives up, before and while it waits', async () => {
    const given = AbortSignal.abort();
    await expect(senderWith().handle(requestOf(), { abortSignal: given })).rejects.toMatchObject({
      name: 'AbortError',
    });
    const giving = new AbortController();
    answer = () => {
      giving.abort();
    };
    const sent = senderWith().handle(requestOf(), { abortSignal: giving.signal });
    await expect(sent).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('reaches an address of IPv6', async () => {
    const onIpv6 = createServer((_request, response) => response.end('six'));
    onIpv6.listen(0, '::1');
    await once(onIpv6, 'listening');
    const address = onIpv6.address() as AddressInfo;
    const { response } = await senderWith().handle(requestOf({ hostname: '[::1]', port: address.port }));
    expect(String(response.body)).toBe('six');
    onIpv6.closeAllConnections();
    onIpv6.close();
  });
});
