import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { PurgeQueueCommand } from '@aws-sdk/client-sqs';
import { formatJob } from '../../../lambdas/job/job.ts';
import type { Parked } from '../../../lambdas/job/parked.ts';
import { openFixture, type Fixture } from '../../support/fixture.ts';

/** Parked messages return automatically if this release can handle them, and all of them by a command. */

let fixture: Fixture;
let redrive: () => Promise<unknown>;
beforeAll(async () => {
  fixture = await openFixture();
  const { handler } = await import('../../../lambdas/handlers/redrive.ts');
  redrive = () => (handler as () => Promise<unknown>)();
});
afterAll(() => fixture.close());

const queueNames = ['short', 'long', 'slow', 'dead', 'fire', 'accountChanges', 'parked', 'undeliveredFires'];
beforeEach(async () => {
  for (const name of queueNames) {
    await fixture.sqs.send(new PurgeQueueCommand({ QueueUrl: fixture.standIns.sqs.queueUrl(name) }));
  }
});

const attempt = formatJob({
  kind: 'attempt',
  accountId: 'acct',
  messageId: 'msg_1',
  attempt: 0,
  queue: 'short',
});
const fire = JSON.stringify({
  accountId: 'acct',
  scheduleId: 'scd_1',
  saveId: '1',
  time: '2026-03-22T18:59:00Z',
});

async function park(parked: Partial<Parked> & Pick<Parked, 'queue' | 'text'>): Promise<void> {
  const { release } = fixture.settings;
  const whole: Parked = { why: 'unreadable', release, parkedAt: Date.now(), ...parked };
  await fixture.standIns.sqs.send('parked', JSON.stringify(whole));
}

const depthOf = (name: string): number => fixture.standIns.sqs.queues.unsettled(name).length;

it('A message that this release can read returns to its queue automatically, and no other does', async () => {
  await park({ queue: 'short', text: attempt, group: 'acct' });
  await park({ queue: 'fire', text: fire });
  await park({ queue: 'accountChanges', text: JSON.stringify({ accountId: 'acct', others: [] }) });
  await park({ queue: 'short', text: '{"kind":"ofTheNextRelease"}' });
  await redrive();
  expect(['short', 'fire', 'accountChanges', 'parked'].map(depthOf)).toEqual([1, 1, 1, 1]);
  const [message] = await fixture.standIns.sqs.queues.receive('short', {
    max: 1,
    waitMs: 0,
    signal: AbortSignal.timeout(60_000),
  });
  expect(message).toMatchObject({ body: attempt, groupId: 'acct' });
  // The remaining message is visible to the next reader.
  await redrive();
  expect(depthOf('parked')).toBe(1);
});

it('A job that killed its workers returns automatically if another release parked it', async () => {
  await park({ queue: 'dead', text: attempt, why: 'deaths' });
  await redrive();
  expect(['dead', 'parked'].map(depthOf)).toEqual([0, 1]);
  await park({ queue: 'dead', text: attempt, why: 'deaths', release: '0.0.1' });
  await redrive();
  expect(['dead', 'parked'].map(depthOf)).toEqual([1, 1]);
});

it('An operator’s command returns all parked messages and unsent fires, and leaves other messages', async () => {
  const { redriveAll } = await import('../../../lambdas/recovery/redrive.ts');
  await park({ queue: 'dead', text: attempt, why: 'deaths' });
  await park({ queue: 'nowhere', text: attempt });
  await fixture.standIns.sqs.send('parked', 'no JSON');
  await fixture.standIns.sqs.send('undeliveredFires', fire);
  const until = Date.now() + 60_000;
  expect(await redriveAll(until)).toEqual({
    parked: { sent: 1, left: 2, since: 0 },
    fires: { sent: 1, left: 0, since: 0 },
  });
  expect(['dead', 'fire', 'parked', 'undeliveredFires'].map(depthOf)).toEqual([1, 1, 2, 0]);
});

it('A message that is parked again during the command is not returned twice, and is visible to the next reader', async () => {
  const { redriveParked } = await import('../../../lambdas/recovery/redrive.ts');
  await park({ queue: 'short', text: 'no work', parkedAt: Date.now() - 1 });
  await park({ queue: 'short', text: 'no work', parkedAt: Date.now() + 60_000 });
  const until = Date.now() + 60_000;
  expect(await redriveParked({ isWanted: () => true, until })).toEqual({ sent: 1, left: 0, since: 1 });
  expect(['short', 'parked'].map(depthOf)).toEqual([1, 1]);
  expect(await redriveParked({ isWanted: () => true, until })).toEqual({ sent: 0, left: 0, since: 1 });
});
