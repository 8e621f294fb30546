import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { enqueue, lagOf, numberOf, send, underKey, upTo } from '../support/lanes.ts';
import { service } from '../support/publish.ts';
import type { Delivery, Inbox } from '../support/receiver.ts';
import { startStage, type Stage } from '../support/stage.ts';
import { useReceiver } from '../support/useReceiver.ts';

/** Nothing is lost, no queue loses its order, and no lane is stuck. */

const receiver = useReceiver();

const queues = 10;
const each = 50;
const kills = [60, 200, 350];

const firstsOf = (deliveries: readonly Delivery[]): readonly number[] => [
  ...new Set(deliveries.map(numberOf)),
];

/** Messages that also have a key. Each key has messages of several queues. */
const keyOf = (number: number): Record<string, string> =>
  number % 4 === 0 ? underKey(`key-${(number / 4) % 3}`, `parallelism=${1 + ((number / 4) % 3)}`) : {};

describe.runIf(service.target === 'local')('a stage that is killed repeatedly', () => {
  it('delivers what each queue accepted in order, and its lanes continue', async () => {
    let stage: Stage = await startStage();
    const { dataDir } = stage;
    /** Resolves when a stage runs. */
    let running: Promise<unknown> = Promise.resolve();
    const restart = (): Promise<unknown> => {
      running = stage.kill().then(async () => {
        stage = await startStage({ dataDir });
      });
      return running;
    };
    try {
      let deliveries = 0;
      const watchers: { readonly count: number; readonly reached: () => void }[] = [];
      const inboxes: readonly Inbox[] = upTo(queues).map(() => {
        const failed = new Set<number>();
        return receiver.inbox((delivery, response) => {
          deliveries += 1;
          for (const { count, reached } of watchers) if (deliveries >= count) reached();
          const number = numberOf(delivery);
          const fails = number % 11 === 3 && !failed.has(number);
          failed.add(number);
          // Some answers are sent after the stage that waits for them was killed.
          setTimeout(() => response.writeHead(fails ? 500 : 200).end(), number % 20);
        });
      });

      const accept = async (queue: number, number: number): Promise<void> => {
        const headers = { ...keyOf(number), 'Svc-Timeout': '20s', 'Svc-Retry-Delay': '1' };
        for (;;) {
          await running;
          const { url, token } = stage;
          try {
            const init = { url, token, body: String(number), headers };
            await enqueue(`queue-${queue}`, inboxes[queue]?.url ?? '', init);
            return;
          } catch (error) {
            // The connection was refused or closed. Any other error fails the test.
            if (!(error instanceof TypeError)) throw error;
          }
        }
      };
      const sending = Promise.all(
        upTo(queues).map(async (queue) => {
          for (const number of upTo(each)) await accept(queue, number);
        }),
      );
      for (const count of kills) {
        await new Promise<void>((reached) => {
          watchers.push({ count, reached });
          if (deliveries >= count) reached();
        });
        await restart();
      }
      await sending;

      for (const inbox of inboxes) {
        const all = await inbox.until((came) => firstsOf(came).length >= each);
        expect(firstsOf(all)).toEqual(upTo(each));
      }
      const { url, token } = stage;
      for (const queue of upTo(queues)) {
        await eventually(
          () => lagOf(`queue-${queue}`, token, url),
          (lag) => lag === 0,
        );
      }
      // Every lane starts one more.
      const after = receiver.inbox();
      for (const queue of upTo(queues)) await enqueue(`queue-${queue}`, after.url, { url, token });
      for (const key of upTo(3)) {
        await send(after.url, { url, token, headers: underKey(`key-${key}`, 'parallelism=1') });
      }
      await after.received(queues + 3);
    } finally {
      await running.catch(() => undefined);
      await stage.remove();
    }
  });
});
