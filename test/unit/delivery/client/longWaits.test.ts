import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseAllowedDestinations } from '../../../../lambdas/destination/addresses.ts';
import {
  createDeliveryClient,
  type DeliveryRequest,
} from '../../../../lambdas/delivery/client/deliveryClient.ts';
import { eventually } from '../../../support/eventually.ts';

/** Tests answers that take hours: only the deadline ends the wait, and no network device drops the connection. */

const minuteMs = 60_000;
const timeoutMs = 88 * minuteMs;

/** Answers when the test says so. Each test has its own server, so that only its connections are counted. */
let server: Server;
let held: ServerResponse[];
let port: number;
beforeEach(async () => {
  held = [];
  server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (_request, response) => {
    held.push(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterEach(() => {
  vi.useRealTimers();
  server.close();
  server.closeAllConnections();
});

const send = createDeliveryClient({ allowed: parseAllowedDestinations(['127.0.0.0/8']), own: new Set() });

const request = (): DeliveryRequest => ({
  url: `http://127.0.0.1:${port}/`,
  method: 'POST',
  headers: [],
  body: Buffer.from('work'),
  timeoutMs,
  maxResponseBytes: 100,
});

const came = (count: number): Promise<number> =>
  eventually(
    () => Promise.resolve(held.length),
    (length) => length === count,
  );

describe('an answer', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  });

  it('is read after 80 minutes', async () => {
    const answer = send(request());
    await came(1);
    await vi.advanceTimersByTimeAsync(80 * minuteMs);
    held[0]?.writeHead(200).end('done');
    expect(await answer).toMatchObject({ status: 200, body: Buffer.from('done') });
  });

  it('is read if its head arrives at once and its end after 80 minutes', async () => {
    const answer = send(request());
    await came(1);
    held[0]?.writeHead(200, { 'content-length': 4 }).write('do');
    await vi.advanceTimersByTimeAsync(80 * minuteMs);
    held[0]?.end('ne');
    expect(await answer).toMatchObject({ status: 200, body: Buffer.from('done') });
  });

  it('is awaited until the deadline', async () => {
    const answer = send(request());
    await came(1);
    await vi.advanceTimersByTimeAsync(timeoutMs);
    expect(await answer).toMatchObject({
      status: 0,
      error: 'The destination did not answer within 5280 s.',
    });
  });
});

/** Linux shows each connection’s kernel timer, and the hundredths of a second until it fires. */
const timersOf = (): readonly { readonly kind: string; readonly seconds: number }[] =>
  readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , remote = '', state]) => state === '01' && remote.endsWith(`:${hexOf(port)}`))
    .map(([, , , , , timer = '']) => {
      const [kind = '', left = ''] = timer.split(':');
      return { kind, seconds: Number.parseInt(left, 16) / 100 };
    });
const hexOf = (number: number): string => number.toString(16).toUpperCase().padStart(4, '0');

/** The kernel’s number for the timer of a keep-alive probe. */
const probe = '02';

describe.runIf(process.platform === 'linux')('a waiting connection', () => {
  it('is probed within a minute, whether new or reused', async () => {
    for (const count of [1, 2]) {
      const answer = send(request());
      await came(count);
      // Another timer runs until the request is acknowledged.
      const timers = await eventually(
        () => Promise.resolve(timersOf()),
        (all) => all.every(({ kind }) => kind === probe),
      );
      expect(timers).toHaveLength(1);
      expect(timers[0]?.seconds).toBeLessThanOrEqual(60);
      expect(timers[0]?.seconds).toBeGreaterThan(2);
      held.at(-1)?.writeHead(200, { 'keep-alive': 'timeout=60' }).end();
      await answer;
    }
  });
});
