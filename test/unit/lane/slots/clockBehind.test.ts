import { expect, it, vi } from 'vitest';
import { setClockAhead } from '../../../support/clockAhead.ts';
import { useFixture } from '../../../support/useFixture.ts';
import type { Fixture } from '../../../support/fixture.ts';

/** The process that grants a slot is ahead of the one that gets the job. */

const importQueues = () => import('../../../../lambdas/lane/queues.ts');

let fixture: Fixture;
let queues: Awaited<ReturnType<typeof importQueues>>;
useFixture(async (opened) => {
  fixture = opened;
  queues = await importQueues();
});

const aheadMs = 3_000;

it('a message of a queue whose granted job is received by a worker with a slower clock is delivered', async () => {
  const inbox = fixture.receiver.inbox();
  const name = 'behind';
  setClockAhead(aheadMs);
  await queues.putQueue(fixture.account, Buffer.from(JSON.stringify({ queueName: name })));
  await queues.pauseQueue(fixture.account, name);
  const messageId = await fixture.enqueue(name, inbox.url);
  await fixture.doJobs();
  await queues.resumeQueue(fixture.account, name);
  const granted = await fixture.receiveAttempt();
  expect(granted.job).toMatchObject({ messageId, admittedTo: { lane: 'queue', name } });

  vi.restoreAllMocks();
  await fixture.perform(granted.job, { isAgain: false });
  expect(inbox.deliveries).toHaveLength(0);
  setClockAhead(2 * aheadMs);
  await fixture.doJobs();
  expect(inbox.deliveries).toHaveLength(1);
});
