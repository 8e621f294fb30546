import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { parseAllowedDestinations } from '../../../../lambdas/destination/addresses.ts';
import { createDeliveryClient } from '../../../../lambdas/delivery/client/deliveryClient.ts';
import type { DestinationResponse } from '../../../../lambdas/destination/response.ts';
import { limitForHangsMs } from '../../../support/limits.ts';

/** Tests answers of a server without HTTP, cut into packets in every way. */

const rules = { allowed: parseAllowedDestinations(['127.0.0.0/8']), own: new Set<string>() };

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

interface Destination {
  readonly url: string;
  readonly sockets: readonly Socket[];
}

async function destination(answer: (socket: Socket, request: number) => Promise<void>): Promise<Destination> {
  const sockets: Socket[] = [];
  let requests = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.push(socket);
    ends.push(() => socket.destroy());
    // A client may end a connection before it has read everything.
    socket.on('error', () => undefined);
    // Each request fits into one packet.
    socket.on('data', () => {
      requests += 1;
      void answer(socket, requests);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, sockets };
}

type Client = (url: string) => Promise<DestinationResponse>;

function newClient(): Client {
  const client = createDeliveryClient(rules);
  return (url) =>
    client({
      url,
      method: 'POST',
      headers: [],
      body: Buffer.from('x'),
      timeoutMs: limitForHangsMs,
      maxResponseBytes: 100_000,
    });
}

const regular = 'HTTP/1.1 202 Accepted\r\nContent-Length: 4\r\n\r\nnext';

async function writePieces(socket: Socket, pieces: readonly Buffer[]): Promise<void> {
  for (const piece of pieces) {
    socket.write(piece);
    // The client is in this process and reads while the server waits.
    for (let turn = 0; turn < 3; turn += 1) await setImmediate();
  }
}

async function exchange(
  client: Client,
  pieces: readonly Buffer[],
  closes: boolean,
): Promise<{ answer: readonly [number, string]; error: string | undefined; connections: number }> {
  let endWriting = (): void => undefined;
  const written = new Promise<void>((resolve) => {
    endWriting = resolve;
  });
  const { url, sockets } = await destination(async (socket, request) => {
    if (request > 1) {
      socket.write(regular);
      return;
    }
    await writePieces(socket, pieces);
    if (closes) socket.end();
    endWriting();
  });
  const { status, body, error } = await client(url);
  // Bytes after the next request cannot be told from its answer.
  await written;
  const next = await client(url);
  expect([next.status, Buffer.from(next.body).toString()]).toEqual([202, 'next']);
  const connections = sockets.length;
  for (const socket of sockets) socket.destroy();
  return { answer: [status, Buffer.from(body).toString('latin1')], error, connections };
}

/** Returns bytes in one piece, each byte separately, and cut in two at every fifth place. */
const cuts = (bytes: Buffer): readonly (readonly Buffer[])[] => [
  [bytes],
  [...bytes].map((byte) => Buffer.of(byte)),
  ...Array.from({ length: Math.floor((bytes.length - 1) / 5) }, (_, at) => [
    bytes.subarray(0, 5 * at + 1),
    bytes.subarray(5 * at + 1),
  ]),
];

/** Exchanges an answer in each way in which packets may cut it. */
async function expectEach(bytes: string, closes: boolean, expected: object): Promise<void> {
  const client = newClient();
  const results = await Promise.all(
    cuts(Buffer.from(bytes, 'latin1')).map((pieces) => exchange(client, pieces, closes)),
  );
  for (const result of results) expect(result).toEqual(expected);
}

const ok = 'HTTP/1.1 200 OK\r\n';
const chunks = '5\r\nhello\r\n0\r\n\r\n';

type Case = readonly [title: string, bytes: string, status: number, body: string];

const irregular: readonly Case[] = [
  ['a body after a 204', 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello', 204, ''],
  ['a body after a 304', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello', 304, ''],
  [
    'more bytes than its length, and closes',
    `${ok}Connection: close\r\nContent-Length: 2\r\n\r\nokhello`,
    200,
    'ok',
  ],
  ['a line end behind its body', `${ok}Content-Length: 2\r\n\r\nok\r\n`, 200, 'ok'],
  ['bytes behind its chunks', `${ok}Transfer-Encoding: chunked\r\n\r\n${chunks}more`, 200, 'hello'],
  [
    'a second answer',
    `${ok}Content-Length: 2\r\n\r\nokHTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n`,
    200,
    'ok',
  ],
  [
    'a length before chunks',
    `${ok}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`,
    200,
    'hello',
  ],
  ['line ends without CR', 'HTTP/1.1 200 OK\nContent-Length: 2\nX-A: b\n\nok', 200, 'ok'],
  [
    'trailers, also folded ones',
    `${ok}Transfer-Encoding: chunked\n\n5;a=b\nhello\n0;c\nX-A: b\n c\nX B: c\n\n`,
    200,
    'hello',
  ],
  ['a folded line', `${ok}X-A: one\r\n two\r\nContent-Length: 2\r\n\r\nok`, 200, 'ok'],
  ['a space before the length’s colon', `${ok}Content-Length : 2\r\n\r\nok`, 200, 'ok'],
  ['a line that is no header', `${ok}what?\r\nX A: b\r\nContent-Length: 2\r\n\r\nok`, 200, 'ok'],
  [
    'characters that a value may not have',
    `${ok}X-A: a\x00b\rc\x7f\r\nContent-Length: 2\r\n\r\nok`,
    200,
    'ok',
  ],
  [
    'informational answers, irregular too',
    `HTTP/1.1 103 Early\nLink : </x>\n\n${ok}Content-Length: 2\r\n\r\nok`,
    200,
    'ok',
  ],
];

describe('an irregular answer is read whole however packets cut it, and its connection is not reused: it has', () => {
  it.each<Case>(irregular)('%s', async (_title, bytes, status, body) => {
    const expected = { answer: [status, body], error: undefined, connections: 2 };
    await expectEach(bytes, bytes.includes('Connection: close'), expected);
    // The connection may also be closed after the answer.
    if (status >= 300) return;
    expect(await exchange(newClient(), [Buffer.from(bytes, 'latin1')], true)).toEqual(expected);
  });
});

describe('a regular answer is read whole however packets cut it, and its connection is reused: it has', () => {
  it.each<Case>([
    ['a body', `${ok}Content-Length: 5\r\nX-A: b\xe9\r\n\r\nhello`, 200, 'hello'],
    ['a status alone', 'HTTP/1.1 204\r\n\r\n', 204, ''],
    [
      'a 304 with the length of what it does not send',
      'HTTP/1.1 304 No\r\nContent-Length: 5\r\n\r\n',
      304,
      '',
    ],
    [
      'chunks',
      `${ok}Transfer-Encoding: Chunked\r\n\r\n3;x="y"\r\nhel\r\n002\r\nlo\r\n0\r\nX-Sum: 1\r\n\r\n`,
      200,
      'hello',
    ],
    ['informational answers', `HTTP/1.1 100 Continue\r\n\r\n${ok}Content-Length: 2\r\n\r\nok`, 200, 'ok'],
  ])('%s', async (_title, bytes, status, body) => {
    await expectEach(bytes, false, { answer: [status, body], error: undefined, connections: 1 });
  });
});

it('a server that closes without notice after a regular answer gets the next request on another connection', async () => {
  const { url, sockets } = await destination((socket) => {
    socket.end(`HTTP/1.1 202 Accepted\r\nContent-Length: 4\r\n\r\nnext`);
    return Promise.resolve();
  });
  const client = newClient();
  for (let round = 1; round <= 20; round += 1) {
    const { body, error } = await client(url);
    expect([Buffer.from(body).toString(), error]).toEqual(['next', undefined]);
    // The connection’s end usually arrives with the answer, and sometimes after it.
    if (round % 2 === 0) await setImmediate();
  }
  expect(sockets).toHaveLength(20);
});

const broken = /^The destination closed the connection before its answer was complete\.$/;
/** The codes differ between versions of Node. */
const notHttp = /^The destination answered with something that is not HTTP \(HPE_\w+\)\.$/;

describe('an answer with an unknown end fails however packets cut it: it has', () => {
  it.each<readonly [title: string, bytes: string, error: RegExp]>([
    ['fewer bytes than its length', `${ok}Content-Length: 5\r\n\r\nhel`, broken],
    ['no last chunk', `${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`, broken],
    ['a size that is none', `${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n\r\n`, notHttp],
    ['a size that no body has', `${ok}Transfer-Encoding: chunked\r\n\r\n${'f'.repeat(17)}\r\nhello`, notHttp],
    [
      'a chunk that is longer than its size',
      `${ok}Transfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n`,
      notHttp,
    ],
    ['two lengths', `${ok}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok!`, notHttp],
    ['a status that is none', 'HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nok', notHttp],
  ])('%s', async (_title, bytes, error) => {
    await expectEach(bytes, error === broken, {
      answer: [0, ''],
      error: expect.stringMatching(error) as unknown,
      connections: 2,
    });
  });
});

describe('a head', () => {
  it.each([
    ['in one header', (bytes: number) => `X-A: ${'x'.repeat(bytes)}\r\n`],
    ['in many headers', (bytes: number) => `X-A: ${'x'.repeat(50)}\r\n`.repeat(bytes / 57)],
  ])('of 60 KiB %s is read, even in many packets', async (_title, headers) => {
    const bytes = Buffer.from(`${ok}${headers(61_000)}Content-Length: 2\r\n\r\nok`);
    const packets = Array.from({ length: Math.ceil(bytes.length / 1_000) }, (_, index) =>
      bytes.subarray(index * 1_000, (index + 1) * 1_000),
    );
    for (const pieces of [[bytes], packets]) {
      expect(await exchange(newClient(), pieces, false)).toEqual({
        answer: [200, 'ok'],
        error: undefined,
        connections: 1,
      });
    }
  });

  it('of more than 64 KiB is refused', async () => {
    const { error } = await exchange(
      newClient(),
      [Buffer.from(`${ok}X-A: ${'x'.repeat(70_000)}\r\n\r\n`)],
      true,
    );
    expect(error).toBe('The destination answered with more than 65536 bytes of headers.');
  });

  it('is shown in order, without the irregular parts', async () => {
    const { url } = await destination(async (socket) => {
      const head = `${ok}X-Folded: one\r\n  two\r\nX-Space : here\nno header\r\nX-Nul: a\0b\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n`;
      await writePieces(socket, [Buffer.from(`${head}ok`, 'latin1')]);
    });
    expect((await newClient()(url)).headers).toEqual([
      ['x-folded', 'one two'],
      ['x-space', 'here'],
      ['x-nul', 'a b'],
      ['content-length', '2'],
    ]);
  });
});

describe('bytes on an idle connection', () => {
  it.each([
    ['a second answer', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'],
    ['a line end', '\r\n'],
  ])('end the connection, and do not answer the next request: %s', async (_title, smuggled) => {
    const { url, sockets } = await destination(async (socket) => {
      await writePieces(socket, [Buffer.from(regular)]);
    });
    const client = newClient();
    expect(await client(url)).toMatchObject({ status: 202 });
    expect(await client(url)).toMatchObject({ status: 202 });
    const [socket] = sockets;
    if (socket === undefined) throw new Error('There was no connection.');
    const closed = once(socket, 'close');
    socket.write(smuggled);
    await closed;
    const { status, body } = await client(url);
    expect([status, Buffer.from(body).toString(), sockets.length]).toEqual([202, 'next', 2]);
  });
});
