import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { boundConnections } from '../../../../local/gateway/front.ts';
import { Intake, type IntakeBounds, type Taken } from '../../../../local/gateway/intake.ts';
import { close, listen, type Server } from '../../../../local/http.ts';
import { pending } from '../../../../local/pending.ts';

let server: Server | undefined;
afterEach(async () => {
  if (server !== undefined) await close(server);
  server = undefined;
});

/** Starts a server that reads bodies and reports their fate. Its function can be held. */
async function start(
  bounds: Partial<IntakeBounds>,
  { accountOf = () => Promise.resolve<string | undefined>('acct'), hold = () => Promise.resolve() } = {},
): Promise<{ readonly port: number; readonly taken: Taken[] }> {
  const intake = new Intake({ largest: 1_000_000, small: 100, ...bounds }, accountOf);
  const taken: Taken[] = [];
  const started = await listen((incoming, response) => {
    intake
      .take(incoming, async (one) => {
        taken.push(one);
        await hold();
        response.end(Buffer.isBuffer(one) ? String(one.length) : one);
      })
      .catch(() => response.destroy());
  });
  ({ server } = started);
  return { port: started.port, taken };
}

function post(
  port: number,
  path = '/v2/publish/d',
  headers: Record<string, string | number> = {},
): ClientRequest {
  return request({ host: '127.0.0.1', port, method: 'POST', path, headers });
}

async function answerTo(sent: ClientRequest): Promise<string> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return text(response);
}

const send = (
  port: number,
  body: Buffer,
  path?: string,
  headers?: Record<string, string | number>,
): Promise<string> => {
  const sent = post(port, path, { 'content-length': body.length, ...headers });
  sent.end(body);
  return answerTo(sent);
};

describe('a body', () => {
  test('that is small is read from any sender', async () => {
    const { port } = await start({}, { accountOf: () => Promise.reject(new Error('asked')) });
    expect(await send(port, Buffer.alloc(100))).toBe('100');
    expect(await send(port, Buffer.alloc(0))).toBe('0');
  });

  test('that is large is read for a good token only, with or without a length', async () => {
    const sender: { account?: string } = {};
    const { port, taken } = await start({}, { accountOf: () => Promise.resolve(sender.account) });
    expect(await send(port, Buffer.alloc(500_000))).toBe('unknownSender');
    const chunked = post(port, '/v2/publish/d', { 'transfer-encoding': 'chunked' });
    chunked.end(Buffer.alloc(500_000));
    expect(await answerTo(chunked)).toBe('unknownSender');
    sender.account = 'acct';
    expect(await send(port, Buffer.alloc(500_000))).toBe('500000');
    expect(taken).toHaveLength(3);
  });

  test('that is too large by its length or its bytes is not read', async () => {
    const { port } = await start({});
    expect(await send(port, Buffer.alloc(1_000_001))).toBe('tooLarge');
    const chunked = post(port, '/v2/publish/d', { 'transfer-encoding': 'chunked' });
    chunked.end(Buffer.alloc(1_000_001));
    expect(await answerTo(chunked)).toBe('tooLarge');
  });

  test.each([
    ['its account', { perAccount: 150_000 }, '/v2/publish/d'],
    ['all', { total: 150_000 }, '/v2/publish/d'],
    [
      'all strangers, where the route asks for no token',
      { perStrangers: 150_000 },
      '/v2/workflows/hooks/a/b/c',
    ],
  ])('takes room from the budget of %s until it was used', async (_, bounds, path) => {
    const { promise, resolve } = pending();
    const { port, taken } = await start(bounds, { hold: () => promise });
    const first = send(port, Buffer.alloc(100_000), path);
    while (taken.length === 0) await new Promise(setImmediate);
    const second = send(port, Buffer.alloc(100_000), path);
    while (taken.length === 1) await new Promise(setImmediate);
    expect(taken[1]).toBe('busy');
    resolve();
    expect(await Promise.all([first, second])).toEqual(['100000', 'busy']);
    expect(await send(port, Buffer.alloc(100_000), path)).toBe('100000');
  });

  test('that arrives too slowly is given up, and a steady one is not', async () => {
    const { port } = await start({ periodMs: 50, leastBytes: 10 });
    const slow = post(port, '/v2/publish/d', { 'content-length': 90 });
    slow.write('a');
    expect(await answerTo(slow)).toBe('tooSlow');
    slow.destroy();
  });

  test('frees its room if its sender goes away', async () => {
    const { port } = await start({ perAccount: 150_000 });
    for (let number = 0; number < 3; number += 1) {
      const lost = post(port, '/v2/publish/d', { 'content-length': 140_000 });
      lost.on('error', () => undefined);
      lost.write(Buffer.alloc(139_000));
      await once(lost, 'socket');
      lost.destroy();
      await new Promise((resolve) => lost.once('close', resolve));
    }
    expect(await send(port, Buffer.alloc(100_000))).toMatch(/^(100000|busy)$/);
    let answer = '';
    while (answer !== '100000') answer = await send(port, Buffer.alloc(100_000));
  });
});

describe('the connections of a server', () => {
  const open = async (port: number) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  };

  test('are limited for each address, and closed ones make room', async () => {
    const started = await listen((_request, response) => response.end('ok'));
    ({ server } = started);
    boundConnections(started.server, () => false, { mostFromOne: 2 });
    const first = await open(started.port);
    await open(started.port);
    const third = await open(started.port);
    await once(third, 'close');
    first.destroy();
    for (let status = 0; status !== 200;) {
      const sent = request({ host: '127.0.0.1', port: started.port, agent: false });
      sent.end();
      status = await once(sent, 'response').then(
        ([response]: IncomingMessage[]) => response?.statusCode ?? 0,
        () => 0,
      );
    }
  });

  test('are not limited for addresses that many clients share', async () => {
    const started = await listen((_request, response) => response.end('ok'));
    ({ server } = started);
    boundConnections(started.server, (address) => address.endsWith('127.0.0.1'), { mostFromOne: 1 });
    const sockets = await Promise.all([open(started.port), open(started.port), open(started.port)]);
    sockets[2].write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await text(sockets[2])).toContain('200 OK');
  });
});
