import { beforeEach, describe, expect, it, vi } from 'vitest';
import { formatEntry } from '../../../lambdas/lane/rules/entry.ts';
import { keepFor } from '../../../lambdas/lane/rules/leaving.ts';
import type { Lanes } from '../../../lambdas/lane/slots/lanes.ts';
import type { AttemptJob } from '../../../lambdas/job/job.ts';
import { importForScenes, type SceneLambdas } from '../../support/laneScene.ts';
import { useWorld } from '../../support/useWorld.ts';
import type { World } from '../../support/world.ts';

/** A message of a queue waits for its callbacks, and for none that is over. */

let world: World;
let lambdas: SceneLambdas;
let lanes: Lanes;
let services: Awaited<ReturnType<typeof importServices>>;

async function importServices() {
  const [{ endMessage }, { giveUp }] = await Promise.all([
    import('../../../lambdas/message/messages.ts'),
    import('../../../lambdas/worker/perform.ts'),
  ]);
  return { endMessage, giveUp };
}

useWorld(async (opened) => {
  world = opened;
  lambdas = await importForScenes();
  ({ lanes } = await import('../../../lambdas/lane/slots/ourLanes.ts'));
  services = await importServices();
});
beforeEach(async () => {
  await world.drain();
});

const queueOf = (name: string) => ({ accountId: world.account.id, kind: 'queue', name }) as const;

const slotsOf = async (name: string): Promise<number | undefined> =>
  (await lambdas.loadLane(queueOf(name)))?.leases.size;

/** Takes the attempts out of the queues. */
const attempts = async (): Promise<readonly AttemptJob[]> =>
  (await world.drain()).flatMap((work) => (work.kind === 'attempt' ? [work] : []));

const shortEntry = (messageId: string): string => formatEntry({ messageId, attempt: 0, queue: 'short' });

describe('a callback that is noted again when it is over, because two workers made its attempt', () => {
  it('leaves again when it is sent again', async () => {
    const inbox = world.receiver.inbox((_delivery, response, count) =>
      response.writeHead(count === 0 ? 500 : 200).end(),
    );
    const callback = world.receiver.inbox();
    const config = { callback: callback.url, retries: '1', 'retry-delay': '0', timeout: '20s' };
    const messageId = await world.enqueue('noted', inbox.url, config);
    const { work } = await world.receiveAttempt();
    await world.deliver(work, false);
    const following = await attempts();
    const told = following.find((one) => one.messageId !== messageId);
    const retry = following.find((one) => one.messageId === messageId);
    if (told === undefined || retry === undefined) throw new Error('An attempt is missing.');
    await world.deliver(told, false);
    // The second worker notes it before it finds the record of the first, and then continues from that.
    await lanes.update(queueOf('noted'), (lane) => keepFor(lane, shortEntry(messageId), [told.messageId]));
    await world.deliver(work, true);
    for (const again of await attempts()) {
      // Where its attempt is recorded it comes back, in case the worker that recorded it has failed to continue.
      await world.deliver(again, false).catch(() => world.deliver(again, true));
    }
    await world.work();
    expect(inbox.deliveries).toHaveLength(2);
    expect(await slotsOf('noted')).toBe(0);
  });
});

describe('a callback that was cancelled by a process that died at once', () => {
  it('leaves when its job comes', async () => {
    const inbox = world.receiver.inbox();
    const callback = world.receiver.inbox();
    const messageId = await world.enqueue('withdrawn', inbox.url, { callback: callback.url, timeout: '20s' });
    const { work } = await world.receiveAttempt();
    await world.deliver(work, false);
    const [told] = await attempts();
    if (told === undefined) throw new Error('There is no callback.');
    expect(told.messageId).not.toBe(messageId);
    const history = await world.loadMessage(told);
    if (history === undefined) throw new Error('The callback is not there.');
    await services.endMessage(history.message, 'CANCELED', Date.now());
    await world.deliver(told, false);
    expect(await slotsOf('withdrawn')).toBe(0);
  });
});

describe('a callback that cannot be stored, of a message that is given up for that', () => {
  it('is not waited for', async () => {
    const inbox = world.receiver.inbox();
    const callback = world.receiver.inbox();
    await world.enqueue('without', inbox.url, { callback: callback.url, timeout: '20s' });
    const { work } = await world.receiveAttempt();
    const name = 'callbackRows';
    world.dynamodb.middlewareStack.add(
      (next) => (args) => {
        if (JSON.stringify(args.input).includes('"slotOf"')) throw new Error('It has no room.');
        return next(args);
      },
      { step: 'initialize', name },
    );
    await expect(world.deliver(work, false)).rejects.toThrow('It has no room.');
    await services.giveUp(work, 'faults');
    world.dynamodb.middlewareStack.remove(name);
    expect(await slotsOf('without')).toBe(1);

    const [told] = await attempts();
    if (told === undefined) throw new Error('The callback was not sent.');
    // A row that is not there after half a minute, and after so many reads, does not come.
    const later = Date.now() + 60_000;
    vi.spyOn(Date, 'now').mockImplementation(() => later);
    await world.deliver({ ...told, looks: 14 }, false);
    expect(await slotsOf('without')).toBe(0);
    expect(callback.deliveries).toEqual([]);
  });
});
