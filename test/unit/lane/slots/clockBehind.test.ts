import { expect, it, vi } from 'vitest';
import { setClockAhead } from '../../../support/clockAhead.ts';
import { useWorld } from '../../../support/useWorld.ts';
import type { World } from '../../../support/world.ts';

/** The clocks of two processes differ: the one that grants an attempt its slot is ahead of the one that gets its job. */

const importQueues = () => import('../../../../lambdas/lane/queues.ts');

let world: World;
let queues: Awaited<ReturnType<typeof importQueues>>;
useWorld(async (opened) => {
  world = opened;
  queues = await importQueues();
});

const aheadMs = 3_000;

it('a message of a queue whose granted job comes to a worker with a slower clock is delivered', async () => {
  const inbox = world.receiver.inbox();
  const name = 'behind';
  setClockAhead(aheadMs);
  await queues.putQueue(world.account, Buffer.from(JSON.stringify({ queueName: name })));
  await queues.pauseQueue(world.account, name);
  const messageId = await world.enqueue(name, inbox.url);
  await world.work();
  // It waits in the line, and is granted its slot by a process whose clock is ahead.
  await queues.resumeQueue(world.account, name);
  const granted = await world.receiveAttempt();
  expect(granted.work).toMatchObject({ messageId, admittedTo: { lane: 'queue', name } });

  vi.restoreAllMocks();
  await world.perform(granted.work, { isAgain: false });
  expect(inbox.deliveries).toHaveLength(0);
  setClockAhead(2 * aheadMs);
  await world.work();
  expect(inbox.deliveries).toHaveLength(1);
});
