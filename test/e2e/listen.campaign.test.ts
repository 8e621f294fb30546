import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, expect, it } from 'vitest';
import { makeAccount } from '../support/accounts.ts';
import { api, ok, unique } from '../support/api.ts';
import { limitForInstallsMs } from '../support/limits.ts';
import { startListener, type Listener } from '../support/listener.ts';
import { sizeOf } from '../support/sample.ts';

/** Many messages by several listeners, which are killed in between, to a slow local server. */

const messages = sizeOf({ ordinary: 1_000, thorough: 5_000 });
const perBatch = 100;

const listeners: Listener[] = [];
afterAll(() => Promise.all(listeners.map((one) => one.kill())));

it(
  'loses none of many messages, though listeners are killed and the server is slow',
  { timeout: limitForInstallsMs },
  async () => {
    const { token } = await makeAccount({ max_requests_per_second: 10_000, max_requests_per_day: 1_000_000 });
    const name = unique('name');
    const seen = new Map<string, number>();
    let inFlight = 0;
    let kills = 0;
    let atKills = 0;
    let done = (): void => undefined;
    const all = new Promise<void>((resolve) => {
      done = resolve;
    });
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        inFlight += 1;
        const body = Buffer.concat(parts).toString();
        seen.set(body, (seen.get(body) ?? 0) + 1);
        // One in fifty is slower than its listener's `--within`.
        setTimeout(
          () => {
            inFlight -= 1;
            response.end('東京');
            if (seen.size === messages) done();
          },
          seen.size % 50 === 0 ? 1_500 : 5,
        );
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const start = async (): Promise<Listener> => {
      const one = await startListener([port, '--name', name, '--parallel', '20', '--within', '1s'], token);
      listeners.push(one);
      return one;
    };
    let running = [await start(), await start()];

    for (let sent = 0; sent < messages; sent += perBatch) {
      const body = Array.from({ length: perBatch }, (_, index) => ({
        destination: `pull:${name}`,
        body: `order ${sent + index} 東京`,
        headers: { 'Svc-Retry-Delay': '0' },
      }));
      await ok(api('POST', '/v2/batch', { token, body }));
      if (sent % (messages / 5) !== 0 || sent === 0) continue;
      kills += 1;
      atKills += inFlight + 20;
      await running[0]?.kill();
      running = [...running.slice(1), await start()];
    }
    await all;
    expect(kills).toBe(4);
    expect(seen.size).toBe(messages);
    const doubles = [...seen.values()].reduce((sum, times) => sum + times - 1, 0);
    // Only messages that a killed listener had taken are made twice.
    expect(doubles).toBeLessThanOrEqual(atKills);
    for (const one of running) one.interrupt();
    expect(await Promise.all(running.map((one) => one.ended))).toEqual([0, 0]);
    server.close();
  },
);
