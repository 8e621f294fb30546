import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { bundledProgram } from '../../../support/bundledProgram.ts';
import { limitForHangsMs } from '../../../support/limits.ts';
import { parseAllowedDestinations } from '../../../../lambdas/destination/addresses.ts';
import {
  createDeliveryClient,
  type DeliveryRequest,
} from '../../../../lambdas/delivery/client/deliveryClient.ts';

const rules = { allowed: parseAllowedDestinations(['127.0.0.0/8']), own: new Set<string>() };

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

interface Destination {
  readonly port: number;
  /** Settles when all connections so far have ended, whichever side ended them. */
  readonly quiet: () => Promise<void>;
}

/** A server without HTTP, which calls `behave` with each connection. */
async function destination(behave: (socket: Socket) => void): Promise<Destination> {
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    // With `allowHalfOpen`, the server has to end its side itself.
    socket.on('end', () => socket.destroy());
    ends.push(() => socket.destroy());
    behave(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  return {
    port,
    quiet: async () => {
      await Promise.all(
        sockets.map(async (socket) => {
          // A socket that is not read does not report the end of its connection.
          socket.resume();
          // Not the promise of `once`, which rejects when the connection is reset.
          if (!socket.closed) await new Promise((closed) => socket.once('close', closed));
        }),
      );
    },
  };
}

const to = (port: number, more: Partial<DeliveryRequest> = {}): DeliveryRequest => ({
  url: `http://127.0.0.1:${port}/`,
  method: 'POST',
  headers: [],
  body: Buffer.from('x'),
  timeoutMs: 400,
  maxResponseBytes: 4_194_304,
  ...more,
});

function flood(socket: Socket, text: string): void {
  const bytes = Buffer.from(text.repeat(Math.ceil(16_384 / text.length)));
  const more = (): void => {
    let hasRoom = true;
    while (hasRoom && !socket.destroyed) hasRoom = socket.write(bytes);
  };
  socket.on('drain', more);
  more();
}

const drip = (socket: Socket, text: string): void => {
  const timer = setInterval(() => socket.write(text), 20);
  socket.on('close', () => {
    clearInterval(timer);
  });
};

const lateMs = 400;
const late = 'The destination did not answer within 0.4 s.';
const unanswered = 'The destination closed the connection without an answer.';
const incomplete = 'The destination closed the connection before its answer was complete.';
const upgrade = 'The destination answered 101 to go on in another protocol, which was not asked for.';

describe('an attempt and its connection end if a destination', () => {
  it.each<[string, string, (socket: Socket) => void, Partial<DeliveryRequest>?]>([
    [
      'switches to another protocol',
      upgrade,
      (socket) =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
    ],
    [
      'sends informational answers without end, fast',
      'The destination sent more than 32 informational answers (1xx).',
      (socket) => {
        flood(socket, 'HTTP/1.1 102 Processing\r\n\r\n');
      },
    ],
    [
      'sends informational answers without end, slowly',
      late,
      (socket) => {
        drip(socket, 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n');
      },
    ],
    ['accepts the connection and is silent', late, () => undefined],
    ['never reads the request', late, (socket) => socket.pause(), { body: Buffer.alloc(4_194_304) }],
    ['ends its half of the connection', unanswered, (socket) => socket.end()],
    ['resets the connection', unanswered, (socket) => socket.once('data', () => socket.resetAndDestroy())],
    [
      'closes in the middle of the headers',
      unanswered,
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Le'),
    ],
    [
      'closes in the middle of the body',
      incomplete,
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'),
    ],
    [
      'sends headers without end',
      'The destination answered with more than 65536 bytes of headers.',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        flood(socket, 'X-Bomb: boom\r\n');
      },
    ],
    [
      'sends a body slowly',
      late,
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n');
        drip(socket, '.');
      },
    ],
    [
      'sends extensions of a chunk without end',
      'The destination answered with something that is not HTTP (HPE_CHUNK_EXTENSIONS_OVERFLOW).',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;');
        flood(socket, 'x');
      },
    ],
    [
      'does not speak HTTP',
      'The destination answered with something that is not HTTP (HPE_INVALID_CONSTANT).',
      (socket) => socket.write('SSH-2.0-x\r\n'),
    ],
    ['never ends its TLS handshake', late, (socket) => socket.resume(), { url: 'https://127.0.0.1:<port>/' }],
  ])('%s', async (_title, error, behave, more = {}) => {
    const { port, quiet } = await destination(behave);
    const url = (more.url ?? 'http://127.0.0.1:<port>/').replace('<port>', String(port));
    const timeoutMs = error === late ? lateMs : limitForHangsMs;
    const response = await createDeliveryClient(rules)(to(port, { timeoutMs, ...more, url }));
    expect(response).toEqual({ status: 0, error, isRefusal: false, headers: [], body: new Uint8Array() });
    await quiet();
  });

  it('fails if one of its headers cannot be sent', async () => {
    const { port, quiet } = await destination(() => undefined);
    const response = await createDeliveryClient(rules)(to(port, { headers: [['x-a', 'new\nline']] }));
    expect(response.error).toContain('Invalid character in header content');
    await quiet();
  });
});

describe('an answer', () => {
  it('in chunks of one byte is cut off, because the limit is on work, not only on bytes', async () => {
    const { port, quiet } = await destination((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      flood(socket, '1\r\nx\r\n');
    });
    const { status, body } = await createDeliveryClient(rules)(to(port, { timeoutMs: 60_000 }));
    expect([status, body.length]).toEqual([200, 65_536]);
    expect(Buffer.from(body).every((byte) => byte === 'x'.charCodeAt(0))).toBe(true);
    await quiet();
  });

  it('of 4 MiB in ordinary chunks is read whole', async () => {
    const chunk = `400\r\n${'x'.repeat(1_024)}\r\n`;
    const { port } = await destination((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      socket.write(`${chunk.repeat(4_095)}0\r\n\r\n`);
    });
    const { status, body } = await createDeliveryClient(rules)(to(port, { timeoutMs: 60_000 }));
    expect([status, body.length]).toEqual([200, 4_095 * 1_024]);
  });

  it('that arrives before the request was read is accepted, and its connection is not kept', async () => {
    const { port, quiet } = await destination((socket) => {
      socket.pause().write('HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nno!');
    });
    const request = to(port, { body: Buffer.alloc(16_777_216), timeoutMs: 60_000 });
    expect(await createDeliveryClient(rules)(request)).toMatchObject({ status: 413 });
    await quiet();
  });
});

describe('an attempt', () => {
  it('keeps its process alive, even if nothing else is open', async () => {
    const program = `
      import { createDeliveryClient } from './lambdas/delivery/client/deliveryClient.ts';
      const rules = { allowed: { hosts: new Set(), networks: [] }, own: new Set() };
      const silent = () => new Promise(() => {});
      const request = createDeliveryClient(rules, silent);
      const { error } = await request({
        url: 'http://silent.example/', method: 'GET', headers: [], body: Buffer.alloc(0),
        timeoutMs: 200, maxResponseBytes: 1_000,
      });
      console.log(error);
    `;
    const run = await bundledProgram(program);
    expect(await run()).toBe('The destination did not answer within 0.2 s.\n');
  });
});
