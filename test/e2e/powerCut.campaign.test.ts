import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { svcQueue } from '../support/command.ts';
import { eventually } from '../support/eventually.ts';
import { putQueue } from '../support/lanes.ts';
import { call, messageIdOf, publish, service } from '../support/publish.ts';
import { journalNames, loseTails } from '../support/powerCut/journals.ts';
import { cutPower, startWatched } from '../support/powerCut/powerCut.ts';
import { startReceiver, type Delivery, type Receiver } from '../support/receiver.ts';
import { randomOf } from '../support/simulatedClock.ts';
import { runStage, startStage, type Stage } from '../support/stage.ts';

const idOf = (delivery: Delivery): string => delivery.headers['svc-message-id'] ?? '';

const says = (stage: Stage, text: string): Promise<string> =>
  eventually(
    () => Promise.resolve(stage.output()),
    (output) => output.includes(text),
  );

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
        await says(stage, 'The machine lost its power: making what is missing again');
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

  it.each([
    {
      reason: 'The machine lost its power',
      lose: (dataDir: string) => void loseTails(dataDir, () => 0),
    },
    {
      reason: 'missing or damaged',
      lose: (dataDir: string) => {
        for (const name of journalNames) rmSync(join(dataDir, name));
      },
    },
  ])(
    'looks again where it dies while it looks, and in a backup of that ($reason)',
    async ({ reason, lose }) => {
      const folder = mkdtempSync(join(tmpdir(), 'svc-power-'));
      const dataDir = join(folder, 'data');
      const restored = join(folder, 'restored');
      const archive = join(folder, 'backup.tar.gz');
      const arrived = receiver.inbox();
      let stage: Stage = await startStage({ dataDir, testControl: true });
      try {
        const { url, token } = stage;
        const late = messageIdOf(await publish(arrived.url, { url, token, headers: { 'Svc-Delay': '10m' } }));
        await stage.kill();
        lose(dataDir);
        const dying = await runStage(['--port', '0', '--data-dir', dataDir], (output) =>
          output.includes(reason),
        );
        dying.child.kill('SIGKILL');
        await dying.exited;
        expect(dying.output()).toContain(reason);
        expect(dying.output()).not.toContain('Looked after');

        expect(await svcQueue(['backup', archive, '--data-dir', dataDir])).toMatchObject({ code: 0 });
        expect(await svcQueue(['restore', archive, '--data-dir', restored])).toMatchObject({ code: 0 });
        for (const [before, from] of [restored, dataDir].entries()) {
          stage = await startStage({ dataDir: from, testControl: true });
          expect(stage.output()).toContain(reason);
          await says(stage, 'Looked after 1 attempts');
          await stage.advance(15 * 60_000);
          await arrived.until((deliveries) => deliveries.filter((one) => idOf(one) === late).length > before);
          await stage.stop();
          stage = await startStage({ dataDir: from });
          expect(stage.output()).not.toContain(reason);
          await stage.kill();
        }
      } finally {
        await stage.kill();
        rmSync(folder, { recursive: true });
      }
    },
  );

  it('is ready before it has looked at all messages, and sends no job twice that the journals have', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-power-'));
    const arrived = receiver.inbox();
    let stage: Stage = await startStage({ dataDir, testControl: true });
    try {
      const delays = ['10m', '2h'];
      const send = ({ url, token }: Stage, count: number): Promise<readonly string[]> =>
        Promise.all(
          Array.from({ length: count }, async (_, at) => {
            const headers = { 'Svc-Delay': delays[at % 2] ?? '' };
            return messageIdOf(await publish(arrived.url, { url, token, headers }));
          }),
        );
      const before = await send(stage, 400);
      await stage.kill();
      loseTails(dataDir, () => 1);
      stage = await startStage({ dataDir, testControl: true });
      const meanwhile = await send(stage, 40);
      const said = await says(stage, 'Looked after');
      expect(said.indexOf('SVC_TOKEN')).toBeLessThan(said.indexOf('Looked after'));
      const sent = readFileSync(join(dataDir, 'sqs.journal'), 'utf8').split('\n');
      const jobs = sent.filter((line) => before.some((id) => line.includes(id)));
      expect(jobs).toHaveLength(before.length / delays.length);
      await stage.advance(4 * 3_600_000);
      await arrived.until((deliveries) => {
        const ids = new Set(deliveries.map(idOf));
        return [...before, ...meanwhile].every((id) => ids.has(id));
      });
    } finally {
      await stage.remove();
    }
  });
});
