import { beforeEach, describe, expect, it } from 'vitest';
import type { Config, Scene } from '../../../support/laneScene.ts';
import type { Inbox } from '../../../support/receiver.ts';
import { useScenes } from '../../../support/useScenes.ts';
import { deathsAt, type World } from '../../../support/world.ts';

/** Kills a worker at each AWS call of messages to a host that is down: none is lost, nor called for ever, nor stuck. */

let world: World;
const open = useScenes((opened) => {
  world = opened;
});

let status = 200;
let inbox: Inbox;
beforeEach(() => {
  status = 200;
  inbox = world.receiver.inbox((_delivery, response) => response.writeHead(status).end());
});

const config: Config = { circuit: 'on', retries: '10', 'retry-delay': '3000' };

/** Two of a queue and two without: the circuit opens, a probe fails, the next finds the host well. */
async function wayOf(scene: Scene): Promise<void> {
  status = 503;
  const ids = [
    await scene.send(inbox.url, config, 'strict'),
    await scene.send(inbox.url, config, 'strict'),
    await scene.send(inbox.url, config),
    await scene.send(inbox.url, config),
  ];
  await scene.fleet.advance(50_000);
  status = 200;
  await scene.fleet.advance(3_600_000);
  const ends = await Promise.all(ids.map((id) => scene.endOf(id)));
  expect(ends).toEqual(ids.map(() => 'DELIVERED'));
  const delivered = inbox.deliveries.map(({ headers }) => headers['svc-message-id'] ?? '');
  // Each is delivered at least once, and of the queue the second after the first.
  expect(new Set(delivered)).toEqual(new Set(ids));
  expect(delivered.indexOf(ids[1] ?? '')).toBeGreaterThan(delivered.lastIndexOf(ids[0] ?? ''));
  const lane = await scene.lane('circuit', new URL(inbox.url).host);
  expect(lane?.circuit?.openedAt).toBeUndefined();
}

/** Each death takes seconds. Odd: `before` and `after` alternate. */
const every = { ordinary: 25, thorough: 5 };
const calls = 160;

describe('messages to a host that is down', () => {
  it('make so many AWS calls', async () => {
    const scene = await open({ max_retries: 10 });
    scene.fleet.killOnce({ call: Infinity, when: 'before' });
    await wayOf(scene);
    expect(scene.fleet.calls()).toBeLessThanOrEqual(calls);
    expect(scene.fleet.calls()).toBeGreaterThan(calls / 3);
  });

  it.each(deathsAt(calls, every))(
    'are all delivered when a worker dies $when AWS call $call',
    async (death) => {
      const scene = await open({ max_retries: 10 });
      scene.fleet.killOnce(death);
      await wayOf(scene);
      scene.fleet.killAt(undefined);
      await scene.settle();
    },
  );
});
