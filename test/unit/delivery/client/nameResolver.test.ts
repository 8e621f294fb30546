import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { parseAllowedDestinations } from '../../../../lambdas/destination/addresses.ts';
import {
  createDeliveryClient,
  type DeliveryRequest,
} from '../../../../lambdas/delivery/client/deliveryClient.ts';
import {
  channelOptions,
  createResolver,
  defaultRestMs,
} from '../../../../lambdas/delivery/client/nameResolver.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

type Family = 'A' | 'AAAA';
/** Addresses, a DNS error (2 is SERVFAIL, 3 is NXDOMAIN), or no answer. */
type Answer = readonly string[] | number | 'silence';

/** Encodes an IPv6 address by its first and last byte, because the tests only use ones like `fc00::1`. */
function bytesOf(address: string): Buffer {
  const [first, last] = address.split('::').map((part) => parseInt(part, 16));
  if (first === undefined || last === undefined) return Buffer.from(address.split('.').map(Number));
  return Buffer.from([first >> 8, last]);
}

interface Dns {
  readonly server: string;
  /** All questions so far in order, including repetitions. */
  readonly asked: readonly string[];
  readonly questions: (count: number) => Promise<void>;
}

/** A DNS server with the given answers by name and family. */
async function dns(answer: (name: string, family: Family) => Answer): Promise<Dns> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query: Buffer, from: RemoteInfo) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += length + 1;
    }
    const question = query.subarray(12, at + 5);
    const isA = query.readUInt16BE(at + 1) === 1;
    const name = labels.join('.');
    const given = answer(name, isA ? 'A' : 'AAAA');
    asked.push(`${name} ${isA ? 'A' : 'AAAA'}`);
    socket.emit('asked');
    if (given === 'silence') return;
    const code = typeof given === 'number' ? given : 0;
    const records = typeof given === 'number' ? [] : given;
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 + code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    const answers = records.map((address) => {
      const short = bytesOf(address);
      const data = isA ? short : Buffer.concat([short.subarray(0, 1), Buffer.alloc(14), short.subarray(1)]);
      // A pointer to the question’s name, its type and class, a lifetime of 60 s, and the address.
      const record = Buffer.from([0xc0, 12, 0, isA ? 1 : 28, 0, 1, 0, 0, 0, 60, 0, data.length]);
      return Buffer.concat([record, data]);
    });
    socket.send(Buffer.concat([header, question, ...answers]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  ends.push(() => socket.close());
  return {
    server: `127.0.0.1:${socket.address().port}`,
    asked,
    questions: async (count) => {
      while (asked.length < count) await once(socket, 'asked');
    },
  };
}

async function hostsFile(text: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-hosts-'));
  ends.push(() => {
    rmSync(folder, { recursive: true });
  });
  const file = join(folder, 'hosts');
  writeFileSync(file, text);
  return Promise.resolve(file);
}

/** Longer than any machine needs, for tests in which both families answer. */
const patient = { 4: 60_000, 6: 60_000 };
/** For tests in which one family never answers. */
const brief = { 4: 50, 6: 50 };

const v4 = (address: string) => ({ address, family: 4 });
const v6 = (address: string) => ({ address, family: 6 });

describe('a name', () => {
  it.each<[string, Answer, Answer]>([
    ['in both families', ['10.0.0.1', '10.0.0.2'], ['fc00::1']],
    ['of IPv6 only', [], ['fc00::1']],
    ['in IPv4, while IPv6 fails', ['10.0.0.1', '10.0.0.2'], 2],
    ['in IPv4, while IPv6 stays away', ['10.0.0.1', '10.0.0.2'], 'silence'],
    ['in IPv6, while IPv4 stays away', 'silence', ['fc00::1']],
  ])('has its addresses %s', async (_title, a, aaaa) => {
    const { server } = await dns((_name, family) => (family === 'A' ? a : aaaa));
    const isSilent = a === 'silence' || aaaa === 'silence';
    const restMs = isSilent ? brief : patient;
    const resolve = createResolver({ servers: [server], hostsFile: '/nowhere', restMs });
    const found = await resolve('Names.Example.');
    expect(found.map(({ family }) => family)).toEqual([
      ...(Array.isArray(a) ? a.map(() => 4) : []),
      ...(Array.isArray(aaaa) ? aaaa.map(() => 6) : []),
    ]);
    if (Array.isArray(a)) expect(found.slice(0, a.length)).toEqual(a.map(v4));
  });

  it('keeps its IPv4 addresses if a packet of the other family is lost, because IPv6 is not reachable everywhere', async () => {
    let isLost = false;
    const { server } = await dns((_name, family) => {
      if (family === 'AAAA') return ['fc00::1'];
      if (isLost) return ['10.0.0.1'];
      isLost = true;
      return 'silence';
    });
    const resolve = createResolver({ servers: [server], hostsFile: '/nowhere', restMs: patient });
    expect(await resolve('dual.example')).toEqual([v4('10.0.0.1'), v6('fc00::1')]);
    expect(defaultRestMs[4]).toBeGreaterThan(channelOptions.timeout);
  });

  it.each<[string, Answer, string]>([
    ['does not exist', 3, 'The name lost.example has no address.'],
    ['has no address', [], 'The name lost.example has no address.'],
    ['is of a broken server', 2, 'The name lost.example could not be resolved: the DNS says ESERVFAIL.'],
    ['is refused', 5, 'The name lost.example could not be resolved: the DNS says EREFUSED.'],
  ])('that %s is told so', async (_title, answer, error) => {
    const { server } = await dns(() => answer);
    const resolve = createResolver({ servers: [server], hostsFile: '/nowhere' });
    await expect(resolve('lost.example')).rejects.toThrow(error);
  });

  it('is asked for once for simultaneous callers, and again afterwards', async () => {
    const { server, asked } = await dns((_name, family) => (family === 'A' ? ['10.0.0.1'] : []));
    const resolve = createResolver({ servers: [server], hostsFile: '/nowhere' });
    await Promise.all(Array.from({ length: 20 }, () => resolve('shared.example')));
    expect(asked.length).toBe(2);
    await resolve('shared.example');
    expect(asked.length).toBe(4);
  });

  it('of this machine is not asked for', async () => {
    const { server, asked } = await dns(() => ['10.0.0.1']);
    const resolve = createResolver({ servers: [server], hostsFile: '/nowhere' });
    for (const name of ['localhost', 'LOCALHOST.', 'app.localhost']) {
      expect(await resolve(name)).toEqual([v4('127.0.0.1'), v6('::1')]);
    }
    expect(asked).toEqual([]);
  });

  it('in the hosts file is not asked for, and the file may change', async () => {
    const { server, asked } = await dns(() => ['10.0.0.1']);
    const file = await hostsFile('# 1.1.1.1 comment\n127.0.0.1\tApp other # x\n::1 app\nnonsense app\n');
    const resolve = createResolver({ servers: [server], hostsFile: file });
    expect(await resolve('app')).toEqual([v4('127.0.0.1'), v6('::1')]);
    expect(await resolve('OTHER')).toEqual([v4('127.0.0.1')]);
    expect(asked).toEqual([]);
    writeFileSync(file, '127.0.0.7 app\n');
    const deadline = Date.now() + 30_000;
    while ((await resolve('app'))[0]?.address !== '127.0.0.7') {
      if (Date.now() > deadline) throw new Error('The change of the file was not seen.');
      await new Promise((again) => setTimeout(again, 20));
    }
  });
});

describe('a delivery', () => {
  const rules = { allowed: parseAllowedDestinations(['127.0.0.0/8']), own: new Set<string>() };
  const to = (url: string, more: Partial<DeliveryRequest> = {}): DeliveryRequest => ({
    url,
    method: 'POST',
    headers: [],
    body: Buffer.from('x'),
    timeoutMs: 60_000,
    maxResponseBytes: 1_000,
    ...more,
  });

  async function destination(): Promise<number> {
    const server = createServer((_request, response) => response.end('ok'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ends.push(() => {
      server.close();
      server.closeAllConnections();
    });
    return (server.address() as AddressInfo).port;
  }

  it('for a healthy name arrives while twenty others are still awaited', async () => {
    const port = await destination();
    const { server, questions, asked } = await dns((name, family) => {
      if (name.startsWith('silent')) return 'silence';
      return family === 'A' ? ['127.0.0.1'] : [];
    });
    const client = createDeliveryClient(rules, createResolver({ servers: [server], hostsFile: '/nowhere' }));
    let waiting = 20;
    const others = Array.from({ length: waiting }, (_, index) =>
      client(to(`http://silent${index}.example:${port}/`)).finally(() => (waiting -= 1)),
    );
    await questions(40);
    const response = await client(to(`http://healthy.example:${port}/`));
    expect([response.status, waiting]).toEqual([200, 20]);
    const ended = await Promise.all(others);
    expect(new Set(ended.map(({ error }) => error?.replace(/silent\d+/, 'silent')))).toEqual(
      new Set(['The name silent.example could not be resolved: no DNS server answered.']),
    );
    // Packets may be lost, so each question was repeated.
    expect(asked.length).toBeGreaterThanOrEqual(20 * 2 * 2 + 2);
  });

  it('times out if its name is silent, and does not harm the next one', async () => {
    const port = await destination();
    const { server } = await dns((name, family) =>
      name.startsWith('late') ? 'silence' : family === 'A' ? ['127.0.0.1'] : [],
    );
    const client = createDeliveryClient(rules, createResolver({ servers: [server], hostsFile: '/nowhere' }));
    const response = await client(to(`http://late.example:${port}/`, { timeoutMs: 200 }));
    expect(response.error).toBe('The destination did not answer within 0.2 s.');
    expect((await client(to(`http://next.example:${port}/`))).status).toBe(200);
  });

  it('reaches this machine by its names', async () => {
    const port = await destination();
    const local = { allowed: parseAllowedDestinations(['localhost']), own: new Set<string>() };
    expect((await createDeliveryClient(local)(to(`http://localhost:${port}/`))).status).toBe(200);
  });
});
