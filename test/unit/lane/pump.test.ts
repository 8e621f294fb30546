import { beforeEach, describe, expect, it, vi } from 'vitest';
import { newLane, type LaneKey } from '../../../lambdas/lane/lane.ts';
import type { PumpJob } from '../../../lambdas/job/job.ts';
import { setClockAhead } from '../../support/clockAhead.ts';
import { importLaneLambdas, type LaneLambdas } from '../../support/laneFixture.ts';
import { useFixture } from '../../support/useFixture.ts';
import { idsOf, type Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
let lambdas: LaneLambdas & Awaited<ReturnType<typeof importMore>>;

const importMore = async () => ({
  ...(await import('../../../lambdas/job/send.ts')),
  ...(await import('../../../lambdas/aws/scheduler.ts')),
  ...(await import('../../../lambdas/lane/slots/processLanes.ts')),
});

useFixture(async (opened) => {
  fixture = opened;
  lambdas = { ...(await importLaneLambdas()), ...(await importMore()) };
});
beforeEach(async () => {
  setClockAhead(0);
  await fixture.drain();
});

const laneKey = (kind: LaneKey['kind'], name: string): LaneKey => ({
  accountId: fixture.account.id,
  kind,
  name,
});

const pump = ({ kind: lane, name }: LaneKey, more: Partial<PumpJob> = {}): Promise<void> =>
  fixture.perform(
    { kind: 'pump', accountId: fixture.account.id, lane, name, dueAt: Date.now(), ...more },
    { isAgain: false },
  );

describe('a pump', () => {
  it('reads no messages if none needs a longer lifetime', async () => {
    await lambdas.putQueue(fixture.account, Buffer.from('{"queueName":"kept","paused":true}'));
    await fixture.enqueue('kept', fixture.receiver.origin);
    fixture.reset();
    await pump(laneKey('queue', 'kept'));
    expect(fixture.callsOf('QueryCommand')).toBe(0);
    await pump(laneKey('queue', 'kept'), { keepsFrom: 0 });
    expect(fixture.callsOf('QueryCommand')).toBe(1);
  });

  it('looks for finished messages that still hold a slot only in queues, and only with a line’s first pump', async () => {
    const lease = { slots: 1, ticket: 'lost' };
    const leases = new Map([[`${'0'.repeat(26)}/0s`, lease]]);
    for (const kind of ['key', 'queue'] as const) {
      const key = laneKey(kind, 'holders');
      await lambdas.saveLane({ ...newLane(key, Date.now(), { parallelism: 1 }), leases });
      await pump(key, { keepsFrom: 1 });
      expect((await lambdas.loadLane(key))?.leases.size).toBe(1);
      await pump(key, { keepsFrom: 0 });
      expect((await lambdas.loadLane(key))?.leases.size).toBe(kind === 'queue' ? 0 : 1);
    }
  });

  it('has its own schedule, whose name is as long as a name may be', async () => {
    const create = vi.spyOn(await lambdas.scheduler(), 'create');
    // One pump is due at the end of the period, and another extends the line every three days.
    const dueAt = Date.now() + 3 * 86_400_000;
    const key = '\u{1f600}'.repeat(128);
    const look: PumpJob = { kind: 'pump', accountId: 'acct', lane: 'key', name: key, dueAt };
    await lambdas.sendJob(look, dueAt);
    await lambdas.sendJob({ ...look, keepsFrom: 0 }, dueAt);
    const names = create.mock.calls.map(([{ name }]) => name);
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name).toMatch(/^[\w.-]{1,64}$/);
  });

  it('gives the starts of a rate in the order in which attempts began to wait', async () => {
    const inbox = fixture.receiver.inbox();
    const config = { 'flow-control-key': 'rated', 'flow-control-value': 'rate=2, period=10s' };
    const ids: string[] = [];
    for (let sent = 0; sent < 12; sent += 1) {
      ids.push(await fixture.send(inbox.url, config));
      await fixture.doJobs();
    }
    // These found free starts and did not wait.
    expect(idsOf(inbox.deliveries)).toEqual(new Set(ids.splice(0, 2)));
    for (let period = 1; ids.length > 0; period += 1) {
      setClockAhead(period * 10_000);
      await pump(laneKey('key', 'rated'));
      const granted = (await fixture.drain()).flatMap((job) => (job.kind === 'attempt' ? job.messageId : []));
      // The messages of one period start together.
      expect(new Set(granted)).toEqual(new Set(ids.splice(0, 2)));
    }
  });
});

describe('a line', () => {
  const waiting = 12;

  it.each(['queue', 'key'] as const)(
    'of a %s drains at once, because each attempt that leaves starts the next one',
    async (kind) => {
      const inbox = fixture.receiver.inbox();
      const lane = laneKey(kind, 'draining');
      const pause = (isPaused: boolean) => lambdas.lanes.update(lane, (found) => ({ ...found, isPaused }));
      const config = { 'flow-control-key': 'draining', 'flow-control-value': 'parallelism=1' };
      if (kind === 'queue') await lambdas.putQueue(fixture.account, Buffer.from('{"queueName":"draining"}'));
      await pause(true);
      for (let number = 0; number < waiting; number += 1) {
        await (kind === 'key' ? fixture.send(inbox.url, config) : fixture.enqueue('draining', inbox.url));
      }
      await fixture.doJobs();
      await pause(false);
      expect(inbox.deliveries).toHaveLength(0);
      // Does the visible jobs only, without letting time pass.
      await fixture.doJobs();
      expect(inbox.deliveries).toHaveLength(waiting);
      expect(idsOf(inbox.deliveries).size).toBe(waiting);
    },
  );
});
