import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { joinLine } from '../../../../lambdas/lane/rules/arrival.ts';
import { withLease, type LaneKey } from '../../../../lambdas/lane/lane.ts';
import { LaneBusy } from '../../../../lambdas/lane/slots/changeLanes.ts';
import { createProcessSlots, type Slot } from '../../../../lambdas/lane/slots/processSlots.ts';
import { LanesInMemory } from '../../../support/lanesInMemory.ts';

const key: LaneKey = { accountId: 'acct', kind: 'account', name: '' };

describe('a process', () => {
  const secondMs = 1_000;
  let table: LanesInMemory;
  let reported: unknown[];
  let slept: number[];
  let takeOf: (lane: LaneKey, most?: number) => Promise<Slot | undefined>;
  const take = (most?: number) => takeOf(key, most);
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    table = new LanesInMemory();
    [reported, slept] = [[], []];
    const slots = createProcessSlots({
      lanes: table.lanes,
      process: 'process#1',
      now: () => table.time,
      sleep: (ms) => {
        slept.push(ms);
        return Promise.resolve();
      },
      report: (_key, error) => reported.push(error),
    });
    takeOf = (lane, most) => slots.take(lane, (found) => ({ ...found, parallelism: 8 }), most);
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const lease = () => table.lane(key).leases.get('process#1');
  const leased = (): number | undefined => lease()?.slots;
  const takeAll = (count: number) => Promise.all(Array.from({ length: count }, () => take()));
  async function pass(ms: number): Promise<void> {
    table.time += ms;
    await vi.advanceTimersByTimeAsync(ms);
  }

  it('keeps no slots for attempts that asked while the write of a lease was failing', async () => {
    let fail = (): void => undefined;
    table.beforeSave = () =>
      new Promise<void>((_, reject) => {
        fail = () => {
          reject(new LaneBusy('It is written by too many at once.'));
        };
      });
    const asked = [take()];
    await new Promise(setImmediate);
    // The first write is in progress, so these ask for the next one, which is not made.
    asked.push(take(), take());
    await new Promise(setImmediate);
    table.beforeSave = () => Promise.resolve();
    fail();
    for (const one of await Promise.allSettled(asked)) expect(one.status).toBe('rejected');
    expect(await take()).toBeDefined();
    expect(leased()).toBe(1);
  });

  it('leases the slots of simultaneous requests with one write, and reuses them without another', async () => {
    const [first, second] = await takeAll(2);
    expect([leased(), table.written.length]).toEqual([2, 1]);
    await first?.release();
    await take();
    expect([leased(), table.written.length]).toEqual([2, 1]);
    // All leased slots are in use.
    await take();
    expect(table.written.length).toBe(2);
    await second?.release();
  });

  it('gives the slots of a write although others keep asking', async () => {
    const others: Promise<unknown>[] = [];
    table.beforeSave = () => {
      if (others.length < 4) others.push(take());
      return new Promise((resolve) => {
        setImmediate(resolve);
      });
    };
    await take();
    expect(others.length).toBeLessThan(4);
    while (others.length < 4) await others.at(-1);
    await Promise.all(others);
  });

  it('renews its lease before it reuses a slot if less than 40 s of its 70 s are left', async () => {
    await (await take())?.release();
    expect(lease()?.until).toBe(table.time + 70 * secondMs);
    table.time += 30 * secondMs - 1;
    await (await take())?.release();
    expect(table.written.length).toBe(1);
    table.time += 1;
    await take();
    expect(table.written.length).toBe(2);
    expect(lease()?.until).toBe(table.time + 70 * secondMs);
  });

  it('gives no more slots than there are, and reports that there is no room to the others', async () => {
    const slots = await takeAll(10);
    expect(slots.map((slot) => slot !== undefined)).toEqual(
      Array.from({ length: 10 }, (_, index) => index < 8),
    );
    expect(leased()).toBe(8);
    expect(await take()).toBeUndefined();
  });

  it('asks the lane if its limit is used up, even if it has leased more', async () => {
    const [first] = await takeAll(2);
    await first?.release();
    const { length } = table.written;
    await take(1);
    expect(table.written.length).toBe(length + 1);
  });

  it('keeps unused slots while at most a quarter of the lane is leased', async () => {
    for (const slot of await takeAll(2)) await slot?.release();
    expect([leased(), table.written.length]).toEqual([2, 1]);
  });

  it('gives back unused slots if more is leased, those of 10 ms with one write', async () => {
    const [first, second, third] = await takeAll(3);
    await Promise.all([first?.release(), second?.release()]);
    expect(slept).toEqual([10]);
    expect([leased(), table.written.length]).toEqual([1, 2]);
    // There is enough room now.
    await third?.release();
    expect([leased(), table.written.length]).toEqual([1, 2]);
  });

  it('gives back unused slots if others wait', async () => {
    await table.lanes.update(key, (lane) => ({ ...lane, isPaused: true }));
    await table.lanes.update(key, (lane) => joinLine(lane, `${'0'.repeat(26)}/0s`));
    await table.lanes.update(key, (lane) => withLease(lane, 'process#1', { slots: 1, until: Infinity }));
    const slot = await take();
    expect(slot).toBeDefined();
    await slot?.release();
    expect(leased()).toBeUndefined();
  });

  it('gives back a slot once if it is released twice', async () => {
    const [slot, other] = await takeAll(4);
    await slot?.release();
    await slot?.release();
    expect(leased()).toBe(3);
    await other?.release();
    expect(leased()).toBe(2);
  });

  it('writes nothing if a leased slot was taken again before it could be given back', async () => {
    const [slot] = await takeAll(4);
    const released = slot?.release();
    const again = await take();
    await released;
    expect([again !== undefined, leased(), table.written.length]).toEqual([true, 4, 1]);
  });

  it('renews its lease every 20 s while something is in flight', async () => {
    const slot = await take();
    await pass(20 * secondMs);
    await pass(20 * secondMs);
    expect(lease()?.until).toBe(table.time + 70 * secondMs);
    expect(table.written.length).toBe(3);
    await slot?.release();
    await pass(60 * secondMs);
    expect(table.written.length).toBe(3);

    await take();
    expect(table.written.length).toBe(4);
    await pass(20 * secondMs);
    expect(table.written.length).toBe(5);
  });

  it('reports a lease that could not be renewed, and renews it the next time', async () => {
    await take();
    const error = new Error('It cannot be read.');
    table.onRead = () => {
      throw error;
    };
    await pass(20 * secondMs);
    expect(reported).toEqual([error]);
    table.onRead = () => {};
    await pass(20 * secondMs);
    expect(lease()?.until).toBe(table.time + 70 * secondMs);
  });

  describe('that has used a thousand other lanes since', () => {
    const others = Array.from({ length: 1_000 }, (_, number) => ({ ...key, accountId: `other${number}` }));
    const useOthers = () => Promise.all(others.map(async (other) => (await takeOf(other))?.release()));

    it('knows which slots of a lane it uses or leases, separately from those of others, and has forgotten unused ones', async () => {
      const unused = { ...key, accountId: 'unused' };
      await (await takeOf(unused))?.release();
      await take();
      const leasing = { ...key, accountId: 'leasing' };
      const asked = takeOf(leasing);
      await Promise.all([useOthers(), asked, takeOf(leasing)]);
      expect(table.lane(leasing).leases.get('process#1')?.slots).toBe(2);
      await take();
      expect(leased()).toBe(2);
      const { length } = table.written;
      await takeOf(unused);
      expect(table.written.length).toBe(length + 1);
    });
  });
});
