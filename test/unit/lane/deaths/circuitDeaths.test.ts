import { describe, expect } from 'vitest';
import { itAtEachDeath } from '../../../support/faults.ts';
import type { Config, Scene } from '../../../support/laneScene.ts';
import { useScenes } from '../../../support/useScenes.ts';
import type { World } from '../../../support/world.ts';

/** Kills a worker at each AWS call of messages to a host that is down: none is lost, nor called for ever, nor stuck. */

let world: World;
const open = useScenes((opened) => {
  world = opened;
});

const config: Config = { circuit: 'on', retries: '10', 'retry-delay': '3000' };

/** Two of a queue and two without: the circuit opens, a probe fails, the next finds the host well. */
async function wayOf(scene: Scene): Promise<void> {
  let status = 503;
  const inbox = world.receiver.inbox((_delivery, response) => response.writeHead(status).end());
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

/** Each death takes seconds. */
const every = { ordinary: 25, thorough: 5 };

describe('messages to a host that is down', () => {
  itAtEachDeath(
    'are all delivered when a worker dies at any of its AWS calls',
    async (fate) => {
      const scene = await open({ max_retries: 10 });
      scene.fleet.setFate(fate);
      await wayOf(scene);
      scene.fleet.setFate(undefined);
      await scene.settle();
    },
    { every },
  );
});
