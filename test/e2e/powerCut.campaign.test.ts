import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { api, deadLettered, listLogs, ok } from '../support/api.ts';
import { svcQueue } from '../support/command.ts';
import { limitForHangsMs } from '../support/limits.ts';
import { hasMembers, membersOf, newsIn } from '../support/members.ts';
import { cutPower } from '../support/powerCut/powerCut.ts';
import { startWatched } from '../support/powerCut/watchedStage.ts';
import { canWatch, noteMark } from '../support/powerCut/writeLog.ts';
import { messageIdOf, service } from '../support/publish.ts';
import type { Delivery, Inbox } from '../support/receiver.ts';
import { randomOf } from '../support/simulatedClock.ts';
import type { Stage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

const minuteMs = 60_000;
const within = { timeout: limitForHangsMs, interval: 5 };
/** Each power failure keeps another share of what was not on the disk. */
const shares = [0, 0.7];
const checksOfEach = 2;

const idOf = (delivery: Delivery): string => delivery.headers['svc-message-id'] ?? '';
const idsOf = (deliveries: readonly Delivery[]): readonly string[] => deliveries.map(idOf);

describe.runIf(service.target === 'local' && canWatch())('a stage after a power failure', () => {
  const receiver = useReceiver();

  function temporaryFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'svc-power-'));
    onTestFinished(() => {
      rmSync(folder, { recursive: true });
    });
    return folder;
  }

  it.each([
    { processes: 1, killed: [] },
    // The first process leads.
    { processes: 2, killed: [0, 1] },
  ])(
    'delivers what it has answered, in order, retries, and fires schedules ($processes processes)',
    async ({ processes, killed }) => {
      const [dataDir, copy] = [temporaryFolder(), temporaryFolder()];
      const random = randomOf(Number(process.env['SVC_DRAW']));
      const note = (what: string, id: string): void => {
        noteMark(join(dataDir, 'writes'), `${what} ${id}`);
      };
      let aheadMs = 0;
      const clock = () => ({ SVC_TEST_AHEAD_MS: String(aheadMs) });
      const start = async (laterMs: number): Promise<Stage> => {
        // The next minute begins soon.
        aheadMs = laterMs + minuteMs - ((Date.now() + 10_000) % minuteMs);
        const env = clock();
        const stage = await startWatched({ dataDir, env, args: ['--processes', String(processes)] });
        onTestFinished(stage.kill);
        return stage;
      };

      const inboxOf = (statusOf: (id: string) => number): Inbox =>
        receiver.inbox((delivery, response) => {
          const status = statusOf(idOf(delivery));
          if (status === 200) note('received', idOf(delivery));
          response.writeHead(status).end();
        });
      const failed = new Set<string>();
      const flaky = inboxOf((id) => (failed.size < failed.add(id).size ? 503 : 200));
      const [arrived, ordered, fires] = [inboxOf(() => 200), inboxOf(() => 200), inboxOf(() => 200)];
      const refusing = inboxOf(() => 503);
      const doomed = new Set<string>();
      const inOrder: string[] = [];

      let stage = await start(0);
      const send = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<string> => {
        const { url, token } = stage;
        const answer = await api('POST', path, { url, token, headers, body: '東京' });
        // A 202 is the answer to a duplicate.
        const id = messageIdOf(answer.status === 202 ? { ...answer, status: 200 } : answer);
        note('answered', id);
        return id;
      };
      const put = (path: string, init: object = {}): Promise<unknown> =>
        ok(api('POST', path, { url: stage.url, token: stage.token, ...init }));
      await put(`/v2/schedules/${fires.url}`, { headers: { 'Svc-Cron': '* * * * *' } });
      await put('/v2/queues', { body: { queueName: 'ordered', parallelism: 1 } });

      const acts = [
        (number: number) => {
          const headers = { 'Svc-Deduplication-Id': `${stage.pid} ${number >> 3}` };
          return send(`/v2/publish/${arrived.url}`, headers);
        },
        () => send(`/v2/publish/${flaky.url}`, { 'Svc-Retry-Delay': '300000' }),
        async () => doomed.add(await send(`/v2/publish/${refusing.url}`, { 'Svc-Retries': '0' })),
        async () => {
          const { logs } = await listLogs({ state: 'DELIVERED', count: 1_000 }, stage);
          for (const { messageId } of logs) note('recorded', messageId);
        },
      ];
      const actUntil = async (over: AbortSignal, first: number): Promise<void> => {
        for (let number = first; !over.aborted; number += 1) {
          await acts[number % acts.length]?.(number).catch((error: unknown) => {
            // A killed process does not answer.
            if (!(error instanceof TypeError)) throw error;
          });
        }
      };

      const noted = { answered: new Set<string>(), received: new Set<string>(), recorded: new Set<string>() };
      const inboxes = [arrived, flaky, ordered, refusing, fires];
      let seen = inboxes.map(() => 0);
      /** Checks the deliveries since the last time. */
      const expectOnce = (most: number): void => {
        const ids = inboxes.flatMap(({ deliveries }, at) => idsOf(deliveries.slice(seen[at])));
        expect(ids.filter((id) => noted.recorded.has(id))).toEqual([]);
        const times = ids.map((id) => ids.filter((other) => other === id).length);
        expect(Math.max(...times)).toBeLessThanOrEqual(most);
        seen = inboxes.map(({ deliveries }) => deliveries.length);
      };

      for (const [round, kept] of shares.entries()) {
        await put('/v2/queues/ordered/pause');
        for (let number = 0; number < 5; number += 1) {
          inOrder.push(await send(`/v2/enqueue/ordered/${ordered.url}`));
        }
        const over = new AbortController();
        const acting = [0, 1, 2, 3].map((first) => actUntil(over.signal, first));
        const rate = { 'Svc-Flow-Control-Key': 'key', 'Svc-Flow-Control-Value': 'rate=5' };
        await Promise.all(
          Array.from({ length: 12 }, async (_, at) => {
            await send(`/v2/publish/${arrived.url}`, { 'Svc-Delay': ['0s', '10m', '2h'][at % 3] ?? '' });
            await send(`/v2/publish/${arrived.url}`, rate);
          }),
        );
        await put('/v2/queues/ordered/resume');
        const victim = killed[round];
        if (victim !== undefined) {
          process.kill(membersOf(stage)[victim] ?? 0, 'SIGKILL');
          await expect.poll(() => newsIn(stage), within).toBe(1);
        }
        await stage.kill();
        over.abort();
        await Promise.all(acting);
        await expect.poll(() => hasMembers(stage), within).toBe(false);
        // An attempt that a kill or a power failure interrupts is made again.
        expectOnce(round === 0 && victim === undefined ? 1 : 2);

        for (let checks = 0; checks < checksOfEach; checks += 1) {
          const { marks } = cutPower(dataDir, { kept, random, moment: 0.2 + 0.8 * random(), aheadMs });
          const filter = (path: string): boolean => basename(path) !== 'writes';
          cpSync(dataDir, copy, { recursive: true, preserveTimestamps: true, filter });
          const checked = await svcQueue(['check', '--data-dir', copy], clock());
          expect(checked.output).toMatch(/ is whole\.\n$/);
          if (checks === checksOfEach - 1) {
            for (const [what, ids] of Object.entries(noted)) {
              for (const mark of marks) if (mark.startsWith(what)) ids.add(mark.slice(what.length + 1));
            }
          }
        }
        // The next round begins while messages of this one still wait.
        stage = await start((round + 1) * 15 * minuteMs + (round === shares.length - 1 ? 240 * minuteMs : 0));
      }

      await put('/v2/queues/ordered/resume');
      const owed = [...noted.answered].filter((id) => !doomed.has(id) && !noted.received.has(id));
      const isPaid = (): boolean => {
        const got = new Set(inboxes.flatMap(({ deliveries }, at) => idsOf(deliveries.slice(seen[at]))));
        return owed.every((id) => got.has(id));
      };
      await expect.poll(isPaid, within).toBe(true);
      await fires.until(({ length }) => length > (seen[4] ?? 0));
      const dead = [...noted.answered].filter((id) => doomed.has(id));
      await Promise.all(dead.map((messageId) => deadLettered({ messageId }, 1, stage)));
      expectOnce(2);
      expect(noted.recorded.size).toBeGreaterThan(0);
      const kept = inOrder.filter((id) => noted.answered.has(id));
      const first = [...new Set(idsOf(ordered.deliveries))];
      expect(first.filter((id) => kept.includes(id))).toEqual(kept);
      expect(await stage.stop()).toBe(0);
      expect((await svcQueue(['check', '--data-dir', dataDir], clock())).output).toMatch(/ is whole\.\n$/);
    },
  );
});
