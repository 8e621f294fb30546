import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { eventually } from '../support/eventually.ts';
import { enqueue, numberOf, putQueue, send, underKey, upTo } from '../support/lanes.ts';
import { ok, api } from '../support/api.ts';
import { service } from '../support/publish.ts';
import { startStage, type Stage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

/** The clock of a machine is set while its stage works, or between two starts. */

const receiver = useReceiver();

const hourMs = 3_600_000;
const steps = [
  ['an hour back', -hourMs],
  ['40 seconds back', -40_000],
  ['an hour forward', hourMs],
] as const;

/** "Within seconds", on a slow machine. It is less than each step. */
const soonMs = 30_000;

const history = z.object({ logs: z.array(z.object({ time: z.number(), state: z.string() })) });
const order = ['CREATED', 'ACTIVE', 'DELIVERED'];

describe.runIf(service.target === 'local')('a stage whose clock steps', () => {
  for (const [what, stepMs] of steps) {
    for (const isRestarted of [false, true]) {
      it(`${what}${isRestarted ? ' between two starts' : ''} continues within seconds`, async () => {
        let stage: Stage = await startStage({ testControl: true });
        try {
          // A new process has real time.
          if (isRestarted) await stage.step(-stepMs);
          const { dataDir } = stage;
          const inbox = receiver.inbox((_, response) => {
            setTimeout(() => response.writeHead(200).end(), 50);
          });
          const ids: string[] = [];
          const publishAll = async (first: number): Promise<void> => {
            const { url, token } = stage;
            const to = (body: number, headers = {}) => ({ url, token, body: String(body), headers });
            for (const number of upTo(8)) {
              ids.push(await enqueue('line', inbox.url, to(first + number)));
              const rated = underKey('rated', 'rate=2, period=1s');
              ids.push(await send(inbox.url, to(first + 10 + number, rated)));
              ids.push(await send(inbox.url, to(first + 20 + number)));
              ids.push(await send(inbox.url, to(first + 30 + number, { 'Svc-Delay': '3s' })));
            }
            const quietly = { 'Svc-Debounce': '2s', 'Svc-Debounce-Id': 'quiet' };
            ids.push(await send(inbox.url, to(first + 40, quietly)));
          };
          await putQueue('line', { paused: true }, stage);
          await publishAll(0);

          if (isRestarted) {
            expect(await stage.stop()).toBe(0);
            stage = await startStage({ dataDir, testControl: true });
          } else await stage.step(stepMs);
          const steppedAt = performance.now();
          await putQueue('line', { paused: false }, stage);
          await publishAll(100);
          await inbox.until((deliveries) => new Set(deliveries.map(numberOf)).size >= ids.length - 1);
          expect(performance.now() - steppedAt).toBeLessThan(soonMs);
          const delivered = inbox.deliveries.map(numberOf).toSorted((one, other) => one - other);
          expect(delivered).toEqual([...new Set(delivered)]);

          const { url, token } = stage;
          const read = async (id: string) => {
            const json = await ok(api('GET', `/v2/logs?messageId=${id}`, { url, token }));
            return history.parse(json).logs.toReversed();
          };
          for (const id of new Set([ids[0] ?? '', ids[2] ?? ''])) {
            const logs = await eventually(
              () => read(id),
              (found) => found.some(({ state }) => state === 'DELIVERED'),
            );
            expect(logs.map(({ state }) => state)).toEqual(order);
          }
        } finally {
          await stage.remove();
        }
      });
    }
  }
});
