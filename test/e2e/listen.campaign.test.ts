import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, type AccountRecord } from '../support/accounts.ts';
import { api, ok, unique } from '../support/api.ts';
import { startSvcQueue, type Running } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { bodiesOf } from '../support/heldInbox.ts';
import { limitForInstallsMs } from '../support/limits.ts';
import { sizeOf } from '../support/sample.ts';
import { service } from '../support/service.ts';
import { startStage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

/** Many messages by two listeners, to a slow local server, while listeners or the service are killed. */

/** The emulator needs seconds for a call. */
const { messages, perBatch, parallel, within } =
  service.target === 'local'
    ? { messages: sizeOf({ ordinary: 1_000, thorough: 5_000 }), perBatch: 100, parallel: 20, within: '1s' }
    : { messages: 100, perBatch: 10, parallel: 4, within: '30s' };
const strikes = 4;
const slowly = { timeout: limitForInstallsMs };
const much = { max_requests_per_second: 10_000, max_requests_per_day: 1_000_000 };

const receiver = useReceiver();
const listeners: Running[] = [];
afterAll(() => Promise.all(listeners.map((one) => one.kill())));

/** @param url of a service that may be down for a while */
async function publishAll(url: string, token: string, name: string): Promise<void> {
  for (let sent = 0; sent < messages; sent += perBatch) {
    const body = Array.from({ length: perBatch }, (_, index) => ({
      destination: `pull:${name}`,
      body: `order ${sent + index} 東京`,
      headers: { 'Svc-Retry-Delay': '0', 'Svc-Deduplication-Id': `${name} ${sent + index}` },
    }));
    await eventually(
      () => api('POST', '/v2/batch', { url, token, body }).catch(() => ({ status: 0 })),
      ({ status }) => status === 200,
    );
  }
}

/**
 * Loses none, and makes twice only what was in work at a strike.
 *
 * @param inWorkAtStrike messages at most that are lost by a listener, or completed without an answer
 * @param strike kills something, at evenly spaced times
 */
async function campaign(
  url: string,
  { token }: Pick<AccountRecord, 'token'>,
  inWorkAtStrike: number,
  strike: (running: Running[], start: () => Running) => Promise<void>,
): Promise<void> {
  const name = unique('name');
  let inWork = 0;
  const inbox = receiver.inbox(({ open }, response, count) => {
    inWork = open;
    // One in fifty is slower than its listener's `--within`.
    setTimeout(() => response.end('東京'), count % 50 === 0 ? 1_500 : 20);
  });
  const start = (): Running => {
    const args = [inbox.url, '--name', name, '--parallel', String(parallel), '--within', within];
    const one = startSvcQueue(['listen', ...args], { SVC_URL: url, SVC_TOKEN: token });
    listeners.push(one);
    return one;
  };
  const running = [start(), start()];
  const published = publishAll(url, token, name);
  const made = () => new Set(bodiesOf(inbox)).size;
  for (let number = 1; number <= strikes; number += 1) {
    await inbox.until(() => made() >= (number * messages) / (strikes + 1));
    expect(inWork).toBeGreaterThan(0);
    await strike(running, start);
  }
  await published;
  await inbox.until(() => made() === messages);
  expect(inbox.deliveries.length - messages).toBeLessThanOrEqual(strikes * inWorkAtStrike);
  const list = z.object({ messages: z.array(z.unknown()) });
  await eventually(
    async () => list.parse(await ok(api('GET', '/v2/messages', { url, token }))).messages,
    ({ length }) => length === 0,
  );
  for (const one of running) one.interrupt();
  expect(await Promise.all(running.map(({ ended }) => ended))).toMatchObject([{ code: 0 }, { code: 0 }]);
}

describe('many messages for listeners', () => {
  it('are all made as requests, though listeners are killed', slowly, async () => {
    await campaign(service.url, await makeAccount(much), parallel, async (running, start) => {
      expect(await running.shift()?.kill()).toMatchObject({ code: null });
      running.push(start());
    });
  });

  it.runIf(service.target === 'local')(
    'are all made as requests, though the service is killed',
    slowly,
    async () => {
      let stage = await startStage();
      const { url, dataDir } = stage;
      try {
        await campaign(url, await makeAccount(much, stage.management), 2 * parallel, async (running) => {
          const before = running.map(({ output }) => output().split('trying again').length);
          await stage.kill();
          await Promise.all(
            running.map(({ output }, index) =>
              eventually(
                () => Promise.resolve(output().split('trying again').length),
                (times) => times > (before[index] ?? 0),
              ),
            ),
          );
          stage = await startStage({ dataDir, port: Number(new URL(url).port) });
        });
      } finally {
        await stage.remove();
      }
    },
  );
});
