import { beforeEach, describe, expect, it } from 'vitest';
import { joinLine } from '../../../lambdas/lane/rules/arrival.ts';
import { newLane, type LaneKey } from '../../../lambdas/lane/lane.ts';
import type { PumpJob } from '../../../lambdas/job/job.ts';
import { setClockAhead } from '../../support/clockAhead.ts';
import { importLaneLambdas, type LaneLambdas } from '../../support/laneFixture.ts';
import { useFixture } from '../../support/useFixture.ts';
import type { Fixture } from '../../support/fixture.ts';

let fixture: Fixture;
let lambdas: LaneLambdas;
useFixture(async (opened) => {
  fixture = opened;
  lambdas = await importLaneLambdas();
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
  it('waits until the end of a second, and then admits the attempts that have room', async () => {
    const key = laneKey('key', 'soon');
    const dueAt = Date.now() + 600;
    const lane = newLane(key, dueAt, { parallelism: 1 });
    await lambdas.saveLane({
      ...joinLine(lane, `${'1'.repeat(26)}/0s`),
      leases: new Map([['other', { slots: 1, until: dueAt }]]),
      pumpAt: dueAt,
      keepAt: dueAt + 1_000,
    });
    await pump(key, { dueAt });
    expect(Date.now()).toBeGreaterThanOrEqual(dueAt);
    expect(await fixture.drain()).toMatchObject([{ kind: 'attempt', admittedTo: { lane: 'key' } }]);
  });

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
});
