import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { putQueue } from '../support/lanes.ts';
import { call, messageIdOf, publish, service } from '../support/publish.ts';
import { loseTails } from '../support/powerCut/journals.ts';
import { cutPower, startWatched } from '../support/powerCut/powerCut.ts';
import { startReceiver, type Delivery, type Receiver } from '../support/receiver.ts';
import { randomOf } from '../support/simulatedClock.ts';
import { startStage, type Stage } from '../support/stage.ts';

const idOf = (delivery: Delivery): string => delivery.headers['svc-message-id'] ?? '';

const isFire = ({ headers }: Delivery): boolean => headers['svc-schedule-id'] !== undefined;

describe.runIf(service.target === 'local')('a stage whose machine loses its power', () => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(() => receiver.close());

  it('delivers what it accepted, and keeps the order of a queue, wherever the journals are cut', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-power-'));
    let stage: Stage = await startWatched({ dataDir });
    const plain = receiver.inbox();
    const ordered = receiver.inbox();
    const accepted = new Set<string>();
    const inOrder: string[] = [];
    // A cut counts when it took something.
    let struck = 0;
    let rounds = 0;
    let number = 0;
    try {
      for (; struck < 2 && rounds < 12; rounds += 1) {
        const { url, token } = stage;
        const publishUntilKilled = async (): Promise<void> => {
          for (;;) {
            number += 1;
            const headers: Record<string, string> = number % 3 === 0 ? { 'Svc-Delay': '1s' } : {};
            const answer = await publish(plain.url, { url, token, body: String(number), headers }).catch(
              () => undefined,
            );
            if (answer === undefined) return;
            accepted.add(messageIdOf(answer));
          }
        };
        const enqueueUntilKilled = async (): Promise<void> => {
          for (;;) {
            const headers = { authorization: `Bearer ${token}` };
            const path = `/v2/enqueue/ordered/${ordered.url}`;
            const answer = await call(path, { method: 'POST', headers }, url).catch(() => undefined);
            if (answer === undefined) return;
            inOrder.push(messageIdOf(answer));
          }
        };
        const publishers = [enqueueUntilKilled(), ...Array.from({ length: 16 }, publishUntilKilled)];
        const enough = accepted.size + 100;
        await plain.until(() => accepted.size >= enough);
        await stage.kill();
        await Promise.all(publishers);
        if (cutPower(dataDir, rounds % 2 === 0 ? 0 : 0.6).lost > 0) struck += 1;
        stage = await startWatched({ dataDir });
      }
      await plain.until((deliveries) => {
        const ids = new Set(deliveries.map(idOf));
        return [...accepted].every((id) => ids.has(id));
      });
      await ordered.until((deliveries) => {
        const ids = new Set(deliveries.map(idOf));
        return inOrder.every((id) => ids.has(id));
      });
      const first = [...new Set(ordered.deliveries.map(idOf))];
      expect(first.filter((id) => inOrder.includes(id))).toEqual(inOrder);
      expect(struck).toBe(2);
    } finally {
      await stage.remove();
    }
  });

  it('delivers what it accepted, in order, and fires schedules, wherever the journals end', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-power-'));
    let stage: Stage = await startStage({ dataDir, testControl: true });
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
    // To nothing, to one torn record, and to any byte.
    const cuts = [() => 0, () => 0.99, random, random];
    let lost = 0;
    try {
      const authorization = `Bearer ${stage.token}`;
      const headers = { authorization, 'Svc-Cron': '*/10 * * * *', 'Svc-Schedule-Id': 'fires' };
      const made = await call(`/v2/schedules/${arrived.url}`, { method: 'POST', headers }, stage.url);
      expect(made.status).toBe(200);
      const queue = { queueName: 'ordered', parallelism: 1 };
      await call(
        '/v2/queues',
        { method: 'POST', headers: { authorization }, body: JSON.stringify(queue) },
        stage.url,
      );
      for (const [round, cut] of cuts.entries()) {
        const { url, token } = stage;
        const send = async (to: string, more: Record<string, string>, list: string[]): Promise<void> => {
          list.push(messageIdOf(await publish(to, { url, token, headers: more })));
        };
        await call('/v2/queues/ordered/pause', { method: 'POST', headers: { authorization } }, url);
        for (let at = 0; at < 5; at += 1) {
          const path = `/v2/enqueue/ordered/${ordered.url}`;
          inOrder.push(messageIdOf(await call(path, { method: 'POST', headers: { authorization } }, url)));
        }
        await Promise.all(
          Array.from({ length: 12 }, async (_, at) => {
            await send(arrived.url, { 'Svc-Delay': ['0s', '10m', '2h'][at % 3] ?? '' }, accepted);
            await send(flaky.url, { 'Svc-Retry-Delay': '300000' }, retried);
            await send(
              arrived.url,
              { 'Svc-Flow-Control-Key': 'key', 'Svc-Flow-Control-Value': 'rate=5' },
              accepted,
            );
          }),
        );
        await call('/v2/queues/ordered/resume', { method: 'POST', headers: { authorization } }, url);
        await stage.kill();
        lost += loseTails(dataDir, cut);
        stage = await startStage({ dataDir, testControl: true });
        expect(stage.output()).toContain('The machine lost its power: making what is missing again');
        // The next round begins while some of this one still waits.
        await stage.advance(round === cuts.length - 1 ? 4 * 3_600_000 : 15 * 60_000);
      }
      const has = (list: readonly Delivery[], ids: readonly string[]): boolean => {
        const seen = new Set(list.map(idOf));
        return ids.every((id) => seen.has(id));
      };
      await arrived.until((deliveries) => has(deliveries, accepted));
      await arrived.until((deliveries) => deliveries.filter(isFire).length >= 4 * 6);
      await ordered.until((deliveries) => has(deliveries, inOrder));
      await flaky.until((deliveries) =>
        retried.every((id) => deliveries.filter((delivery) => idOf(delivery) === id).length > 1),
      );
      const first = [...new Set(ordered.deliveries.map(idOf))];
      expect(first.filter((id) => inOrder.includes(id))).toEqual(inOrder);
      expect(lost).toBeGreaterThan(0);
    } finally {
      await stage.remove();
    }
  });

  it('makes the journals again from the database where they are lost', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-power-'));
    const holding = receiver.inbox((_delivery, response) => response.writeHead(503).end());
    const arrived = receiver.inbox();
    let stage: Stage = await startStage({ dataDir, testControl: true });
    try {
      const { url, token } = stage;
      const send = async (to: string, headers: Record<string, string> = {}): Promise<string> =>
        messageIdOf(await publish(to, { url, token, headers }));
      const failing = await send(holding.url, { 'Svc-Retry-Delay': '600000' });
      await holding.received(1);
      const soon = await send(arrived.url, { 'Svc-Delay': '10m' });
      const late = await send(arrived.url, { 'Svc-Delay': '2h' });
      const authorization = `Bearer ${token}`;
      const schedule = await call(
        `/v2/schedules/${arrived.url}`,
        { method: 'POST', headers: { authorization, 'Svc-Cron': '0 */3 * * *' } },
        url,
      );
      expect(schedule.status).toBe(200);
      await putQueue('held', { parallelism: 1, paused: true }, { token, url });
      const queued = await call(
        `/v2/enqueue/held/${arrived.url}`,
        { method: 'POST', headers: { authorization } },
        url,
      );
      await stage.kill();
      for (const name of ['sqs.journal', 'scheduler.journal']) rmSync(join(dataDir, name));

      stage = await startStage({ dataDir, testControl: true });
      expect(stage.output()).toContain('missing or damaged');
      await call('/v2/queues/held/resume', { method: 'POST', headers: { authorization } }, stage.url);
      await stage.advance(4 * 3_600_000);
      await arrived.until((deliveries) => {
        const ids = deliveries.map(idOf);
        const fires = deliveries.filter(({ headers }) => headers['svc-schedule-id'] !== undefined);
        return [soon, late, messageIdOf(queued)].every((id) => ids.includes(id)) && fires.length > 0;
      });
      await holding.until((deliveries) => deliveries.filter((one) => idOf(one) === failing).length > 1);
    } finally {
      await stage.remove();
    }
  });
});
