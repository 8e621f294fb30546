import { once } from 'node:events';
import http, { createServer, type Server } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { parseAllowedDestinations } from '../../../../lambdas/destination/addresses.ts';
import { createAgents, type Agents } from '../../../../lambdas/delivery/client/agents.ts';
import { AnswerConnection } from '../../../../lambdas/delivery/client/answerConnection.ts';
import { createDeliveryClient } from '../../../../lambdas/delivery/client/deliveryClient.ts';
import { eventually } from '../../../support/eventually.ts';
import { limitForHangsMs } from '../../../support/limits.ts';

/** Timers end only when the test says so. */
const stopTimers = (): void => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
};

const servers: Server[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

interface Destination {
  readonly port: number;
  readonly open: ReadonlySet<Socket>;
}

async function destination(headers: Readonly<Record<string, string>> = {}): Promise<Destination> {
  const open = new Set<Socket>();
  const server = createServer({ keepAliveTimeout: 0 }, (_request, response) => {
    response.writeHead(200, headers).end('ok');
  });
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  return { port: (server.address() as AddressInfo).port, open };
}

const settled = <T>(read: () => T, expected: T): Promise<T> =>
  eventually(
    () => Promise.resolve(read()),
    (value) => value === expected,
  );

async function send(agents: Agents, port: number, host: string): Promise<void> {
  const request = http.get({
    agent: agents['http:'],
    host,
    port,
    lookup: (_name, { all }, done) => {
      if (all === true) done(null, [{ address: '127.0.0.1', family: 4 }]);
      else done(null, '127.0.0.1', 4);
    },
  });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  response.resume();
  await once(request, 'close');
}

describe('idle connections of a process', () => {
  it('are at most 128, however many hosts there are', async () => {
    const { port, open } = await destination({ 'keep-alive': 'timeout=600' });
    const client = createDeliveryClient(
      { allowed: parseAllowedDestinations(['127.0.0.0/8']), own: new Set() },
      () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
    );
    const deliver = async (host: string): Promise<void> => {
      const { status } = await client({
        url: `http://${host}:${port}/`,
        method: 'GET',
        headers: [],
        body: Buffer.alloc(0),
        timeoutMs: 60_000,
        maxResponseBytes: 1_000,
      });
      expect(status).toBe(200);
    };
    for (let batch = 0; batch < 14; batch += 1) {
      await Promise.all(
        Array.from({ length: 10 }, (_, index) => deliver(`host${batch * 10 + index}.example`)),
      );
      await settled(() => open.size, Math.min(128, (batch + 1) * 10));
    }
  });

  it('of both protocols are counted together, and the one that is idle longest is closed', async () => {
    const agents = createAgents({
      most: 2,
      lifetimeMs: limitForHangsMs,
      unstatedLifetimeMs: limitForHangsMs,
    });
    const [one, two, three] = [await destination(), await destination(), await destination()];
    for (const { port } of [one, two, one]) await send(agents, port, 'same.example');
    const secure = new AnswerConnection(connect(three.port, '127.0.0.1'));
    secure.write('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n');
    await once(secure, 'data');
    agents['https:'].keepSocketAlive(secure);
    await settled(() => [one.open.size, two.open.size, three.open.size].join(), '1,0,1');
    secure.destroy();
  });

  it('are reused, and are closed after their idle time', async () => {
    stopTimers();
    const agents = createAgents({ unstatedLifetimeMs: 300 });
    const { port, open } = await destination();
    await send(agents, port, 'used.example');
    const [first] = open;
    await vi.advanceTimersByTimeAsync(299);
    await send(agents, port, 'used.example');
    await vi.advanceTimersByTimeAsync(299);
    expect([...open]).toEqual([first]);
    await vi.advanceTimersByTimeAsync(1);
    await settled(() => open.size, 0);
  });

  it.each([
    ['says that it keeps them for 3 s', { 'keep-alive': 'timeout=3' }, 3_000],
    ['does not say for how long, as Gunicorn', {}, 2_000],
  ])('are closed before their server closes them, which %s', async (_title, headers, serverMs) => {
    stopTimers();
    const { port, open } = await destination(headers);
    await send(createAgents(), port, 'closing.example');
    await vi.advanceTimersByTimeAsync(serverMs - 1);
    await settled(() => open.size, 0);
  });

  it('are not closed while they are in use', async () => {
    stopTimers();
    const agents = createAgents();
    const server = createServer((request, response) => {
      if (request.url !== '/slow') response.end('ok');
      else void vi.advanceTimersByTimeAsync(60_000).then(() => response.end('late'));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    const { port } = server.address() as AddressInfo;
    await send(agents, port, '127.0.0.1');
    const request = http.get({ agent: agents['http:'], host: '127.0.0.1', port, path: '/slow' });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    expect([request.reusedSocket, response.statusCode]).toEqual([true, 200]);
    response.resume();
  });

  it('are not kept if the other end announces that it closes', async () => {
    const agents = createAgents();
    const { port, open } = await destination({ 'keep-alive': 'timeout=0' });
    await send(agents, port, 'hasty.example');
    await settled(() => open.size, 0);
  });

  it.each(['Connection: close\r\n', ''])(
    'leave no connection behind after an answer with %j',
    async (header) => {
      const sockets = new Set<Socket>();
      // The server does not end its side of a connection.
      const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
        sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\n${header}Content-Length: 2\r\n\r\nok`));
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const agents = createAgents({ unstatedLifetimeMs: 100 });
      const agent = agents['http:'];
      await send(agents, (server.address() as AddressInfo).port, 'open.example');
      await settled(() => Object.keys({ ...agent.sockets, ...agent.freeSockets }).length, 0);
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  );
});
