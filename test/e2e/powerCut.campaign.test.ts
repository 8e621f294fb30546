import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cutPower } from '../support/powerCut/powerCut.ts';
import { startWatched } from '../support/powerCut/watchedStage.ts';
import { canWatch } from '../support/powerCut/writeLog.ts';
import { call, messageIdOf, publish, service } from '../support/publish.ts';
import type { Delivery } from '../support/receiver.ts';
import { randomOf } from '../support/simulatedClock.ts';
import type { Stage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

const idOf = (delivery: Delivery): string => delivery.headers['svc-message-id'] ?? '';
const isFire = ({ headers }: Delivery): boolean => headers['svc-schedule-id'] !== undefined;

const hasAll = (deliveries: readonly Delivery[], ids: Iterable<string>): boolean => {
  const seen = new Set(deliveries.map(idOf));
  return [...ids].every((id) => seen.has(id));
};

/** Returns the given messages in the order in which they first arrived. */
const firstOf = (deliveries: readonly Delivery[], ids: readonly string[]): readonly string[] =>
  [...new Set(deliveries.map(idOf))].filter((id) => ids.includes(id));

describe.runIf(service.target === 'local' && canWatch())('a stage after a power failure', () => {
  const receiver = useReceiver();

  it('delivers waiting messages in order, retries, and fires schedules, after each of several power failures', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-power-'));
    let stage: Stage = await startWatched({ dataDir, testControl: true });
    const arrived = receiver.inbox();
    const failing = new Set<string>();
    const flaky = receiver.inbox((delivery, response) => {
      const isFirst = !failing.has(idOf(delivery));
      failing.add(idOf(delivery));
      response.writeHead(isFirst ? 503 : 200).end();
    });
    const ordered = receiver.inbox();
    const [accepted, retried, inOrder]: [string[], string[], string[]] = [[], [], []];
    const random = randomOf(7);
    const cuts = [0, 0.5, 0.9];
    try {
      const authorization = `Bearer ${stage.token}`;
      const headers = { authorization, 'Svc-Cron': '*/10 * * * *', 'Svc-Schedule-Id': 'fires' };
      const made = await call(`/v2/schedules/${arrived.url}`, { method: 'POST', headers }, stage.url);
      expect(made.status).toBe(200);
      const queue = JSON.stringify({ queueName: 'ordered', parallelism: 1 });
      await call('/v2/queues', { method: 'POST', headers: { authorization }, body: queue }, stage.url);
      for (const [round, kept] of cuts.entries()) {
        const { url, token } = stage;
        const post = (path: string) => call(path, { method: 'POST', headers: { authorization } }, url);
        const send = async (to: string, more: Record<string, string>, list: string[]): Promise<void> => {
          list.push(messageIdOf(await publish(to, { url, token, headers: more })));
        };
        await post('/v2/queues/ordered/pause');
        for (let at = 0; at < 5; at += 1)
          inOrder.push(messageIdOf(await post(`/v2/enqueue/ordered/${ordered.url}`)));
        await Promise.all(
          Array.from({ length: 12 }, async (_, at) => {
            await send(arrived.url, { 'Svc-Delay': ['0s', '10m', '2h'][at % 3] ?? '' }, accepted);
            await send(flaky.url, { 'Svc-Retry-Delay': '300000' }, retried);
            const rate = { 'Svc-Flow-Control-Key': 'key', 'Svc-Flow-Control-Value': 'rate=5' };
            await send(arrived.url, rate, accepted);
          }),
        );
        await post('/v2/queues/ordered/resume');
        await stage.kill();
        cutPower(dataDir, kept, random);
        stage = await startWatched({ dataDir, testControl: true });
        // The next round begins while messages of this one still wait.
        await stage.advance(round === cuts.length - 1 ? 4 * 3_600_000 : 15 * 60_000);
      }
      await arrived.until((deliveries) => hasAll(deliveries, accepted));
      await arrived.until((deliveries) => deliveries.filter(isFire).length >= 4 * 6);
      await ordered.until((deliveries) => hasAll(deliveries, inOrder));
      await flaky.until((deliveries) =>
        retried.every((id) => deliveries.filter((delivery) => idOf(delivery) === id).length > 1),
      );
      expect(firstOf(ordered.deliveries, inOrder)).toEqual(inOrder);
    } finally {
      await stage.remove();
    }
  });
});
