import { beforeEach, expect, it, vi } from 'vitest';
import type { Lane } from '../../../../lambdas/lane/lane.ts';
import type { AttemptJob } from '../../../../lambdas/job/job.ts';
import { importLaneLambdas, type LaneLambdas } from '../../../support/laneFixture.ts';
import { useFixture } from '../../../support/useFixture.ts';
import type { Fixture } from '../../../support/fixture.ts';

/** A granted job may arrive before its lane is written, or where the clock is slower. Messages behind it must not wait for that. */

let fixture: Fixture;
let lambdas: LaneLambdas;
let services: Awaited<ReturnType<typeof importServices>>;

async function importServices() {
  const [{ lanes }, { endMessage }] = await Promise.all([
    import('../../../../lambdas/lane/slots/processLanes.ts'),
    import('../../../../lambdas/message/messages.ts'),
  ]);
  return { lanes, endMessage };
}

useFixture(async (opened) => {
  fixture = opened;
  lambdas = await importLaneLambdas();
  services = await importServices();
});
let now = 0;
/** Lets time pass. Otherwise the clock is stopped. */
function pass(ms: number): void {
  now += ms;
  vi.spyOn(Date, 'now').mockReturnValue(now);
}

beforeEach(async () => {
  now = Math.max(now, Date.now());
  pass(60_000);
  await fixture.drain();
  await services.lanes.update(queue(), (lane) => ({ ...lane, leases: new Map() }));
});

const queue = () => ({ accountId: fixture.account.id, kind: 'queue', name: 'overtaken' }) as const;

/** Returns the job of a message that was cancelled in a page, and whose grant is about to be written. */
async function cancelledInPage(sentAt: number): Promise<{ job: AttemptJob; write: () => Promise<void> }> {
  const messageId = await fixture.enqueue('overtaken', fixture.receiver.inbox().url);
  const { job } = await fixture.receiveAttempt();
  await fixture.drain();
  const history = await fixture.loadMessage({ accountId: fixture.account.id, messageId });
  if (history === undefined) throw new Error('The message is gone.');
  await services.endMessage(history.message, 'CANCELED', Date.now());
  const { lanes } = services;
  const leases = (await lambdas.loadLane(queue()))?.leases;
  const [[entry, lease] = []] = leases ?? [];
  if (entry === undefined || lease === undefined) throw new Error('The message has no slot.');
  const to = (lane: Lane, ticket: string | undefined): Lane => ({
    ...lane,
    leases: ticket === undefined ? new Map() : new Map([[entry, { ...lease, ticket }]]),
  });
  await lanes.update(queue(), (lane) => to(lane, undefined));
  return {
    job: { ...job, admittedTo: { lane: 'queue', name: 'overtaken', ticket: 'late', sentAt } },
    write: () => lanes.update(queue(), (lane) => to(lane, 'late')),
  };
}

const slots = async (): Promise<number | undefined> => (await lambdas.loadLane(queue()))?.leases.size;

it('of a cancelled message waits for a write that is slightly late', async () => {
  const { job, write } = await cancelledInPage(Date.now());
  const delivered = fixture.deliver(job, false);
  await write();
  await delivered;
  expect(await slots()).toBe(0);
  expect(await fixture.drain()).toEqual([]);
});

it.each([
  { age: 0, delaySeconds: 1 },
  { age: 4_000, delaySeconds: 4 },
])('of a cancelled message is retried soon if the write is late, after $age ms', async (row) => {
  const { job, write } = await cancelledInPage(Date.now() - row.age);
  const delays: unknown[] = [];
  fixture.sqs.middlewareStack.add(
    (next) => (args) => {
      if ('DelaySeconds' in args.input) delays.push(args.input.DelaySeconds);
      return next(args);
    },
    { step: 'initialize', name: 'delays' },
  );
  await fixture.deliver(job, false);
  fixture.sqs.middlewareStack.remove('delays');
  expect(delays[0]).toBe(row.delaySeconds);
  await write();
  expect(await slots()).toBe(1);
  pass(10_000);
  await fixture.doJobs();
  expect(await slots()).toBe(0);
});

it('is dropped if the write never happens', async () => {
  const { job } = await cancelledInPage(Date.now() - 61_000);
  await fixture.deliver(job, false);
  expect(await fixture.drain()).toEqual([]);
});

it('of a queue that is received by a worker with a slower clock is delivered', async () => {
  const inbox = fixture.receiver.inbox();
  const name = 'behind';
  const aheadMs = 3_000;
  pass(aheadMs);
  await lambdas.putQueue(fixture.account, Buffer.from(JSON.stringify({ queueName: name, paused: true })));
  const messageId = await fixture.enqueue(name, inbox.url);
  await fixture.doJobs();
  await lambdas.resumeQueue(fixture.account, name);
  const granted = await fixture.receiveAttempt();
  expect(granted.job).toMatchObject({ messageId, admittedTo: { lane: 'queue', name } });

  pass(-aheadMs);
  await fixture.perform(granted.job, { isAgain: false });
  expect(inbox.deliveries).toHaveLength(0);
  pass(3 * aheadMs);
  await fixture.doJobs();
  expect(inbox.deliveries).toHaveLength(1);
});
