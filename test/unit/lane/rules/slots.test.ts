import { describe, expect, it } from 'vitest';
import { joinLine } from '../../../../lambdas/lane/rules/arrival.ts';
import {
  asQueue,
  freeSlots,
  inFlightIn,
  isThere,
  keptUntilAtLeast,
  leaseTo,
  limitsOfKey,
  newLane,
  pruned,
  slotsInUse,
  withLease,
  withLimits,
  withNewestLimits,
  type Lane,
  type Limits,
} from '../../../../lambdas/lane/lane.ts';

const laneWith = (limits: Limits = {}): Lane =>
  newLane({ accountId: 'acct', kind: 'account', name: '' }, 0, limits);
const dayMs = 86_400_000;

describe('the slots of a process', () => {
  const three = laneWith({ parallelism: 3 });
  const wants = (slots: number, until = 100) => ({ process: 'process#p', slots, until });
  const held = leaseTo(three, wants(2), 0).lane;

  it('grow up to the capacity, and last until the new lease ends', () => {
    const { lane, result } = leaseTo(held, wants(5, 200), 50);
    expect(result).toBe(3);
    expect([...lane.leases]).toEqual([['process#p', { slots: 3, until: 200 }]]);
  });

  it('shrink, and the lease ends with the last slot', () => {
    const { lane, result } = leaseTo(held, wants(1, 200), 50);
    expect(result).toBe(1);
    expect([...lane.leases]).toEqual([['process#p', { slots: 1, until: 200 }]]);
    const none = leaseTo(held, wants(0), 50);
    expect(none).toMatchObject({ result: 0, lane: { leases: new Map() } });
    expect(none.lane.leases.size).toBe(0);
  });

  it('are renewed even if the lane is full, paused, or has a line', () => {
    const full = withLease(held, 'a', { slots: 1, until: 900 });
    for (const lane of [full, { ...held, isPaused: true }, joinLine(held, 'a')]) {
      const renewed = leaseTo(lane, wants(2, 200), 50);
      expect(renewed.result).toBe(2);
      expect(renewed.lane.leases.get('process#p')).toEqual({ slots: 2, until: 200 });
    }
  });

  it('do not change, and nothing is written, if no more are free', () => {
    const full = withLease(held, 'a', { slots: 1, until: 900 });
    for (const lane of [full, { ...held, isPaused: true }, joinLine(held, 'a')]) {
      const refused = leaseTo(lane, wants(3, 200), 50);
      expect(refused.result).toBe(2);
      expect(refused.lane).toBe(lane);
    }
    const empty = { ...three, isPaused: true };
    expect(leaseTo(empty, wants(3), 50)).toEqual({ lane: empty, result: 0 });
    expect(leaseTo(three, wants(0), 50).lane).toBe(three);
  });
});

describe('a lane', () => {
  it('has the free slots that its limit leaves, unlimited ones without a limit, and never fewer than zero', () => {
    const busy = withLease(withLease(laneWith({ parallelism: 4 }), 'a', { slots: 2, until: 100 }), 'b', {
      slots: 1,
    });
    expect([slotsInUse(busy, 99), freeSlots(busy, 99)]).toEqual([3, 1]);
    expect([slotsInUse(busy, 100), freeSlots(busy, 100)]).toEqual([1, 3]);
    expect(freeSlots({ ...busy, parallelism: 2 }, 99)).toBe(0);
    expect(freeSlots({ ...busy, parallelism: undefined }, 99)).toBe(Infinity);
  });

  it('counts attempts with a slot as in flight, except messages that only wait for callbacks', () => {
    const over = withLease(laneWith(), 'a', { slots: 1, isOver: true });
    const two = withLease(withLease(over, 'b', { slots: 1 }), 'c', { slots: 1 });
    expect(inFlightIn(two)).toBe(2);
  });

  it('drops ended leases and starts that no longer count, and otherwise does not change', () => {
    const lease = { slots: 1, until: 100 };
    const forever = withLease(laneWith({ rate: 3, periodMs: 50 }), 'm', { slots: 1 });
    const lane: Lane = { ...withLease(forever, 'a', lease), starts: [{ at: 60, count: 1 }] };
    expect(pruned(lane, 99)).toBe(lane);
    const later = pruned({ ...lane, starts: [{ at: 100, count: 1 }] }, 100);
    expect([...later.leases.keys()]).toEqual(['m']);
    expect(later.starts).toHaveLength(1);
    expect(pruned({ ...forever, starts: lane.starts }, 110).starts).toEqual([]);
  });
});

describe('a queue', () => {
  it('is created with a parallelism of 1 if it is missing or deleted', () => {
    const deleted: Lane = { ...laneWith({ parallelism: 7 }), version: 4, isDeleted: true, isCircuitOn: true };
    for (const lane of [laneWith(), deleted]) {
      expect(isThere(lane)).toBe(false);
      const made = asQueue(lane, 50);
      expect(made).toEqual({
        ...lane,
        ...{ parallelism: 1, isDeleted: false, isCircuitOn: undefined, createdAt: 50, updatedAt: 50 },
      });
    }
  });

  it('that exists does not change', () => {
    const queue: Lane = { ...laneWith({ parallelism: 7 }), version: 1 };
    expect(isThere(queue)).toBe(true);
    expect(asQueue(queue, 50)).toBe(queue);
  });
});

describe('the limits of a lane', () => {
  const limits = { parallelism: 2, rate: 3, periodMs: 1_000 };

  it('need a write only if one of them changes', () => {
    const lane = laneWith(limits);
    expect(withLimits(lane, { ...limits })).toBe(lane);
    for (const changed of [{ parallelism: 9 }, { rate: 9 }, { periodMs: 9_000 }, { rate: undefined }]) {
      expect(withLimits(lane, { ...limits, ...changed })).toEqual({ ...lane, ...changed });
    }
  });

  it('are those of the newest message, and of the second one created in the same millisecond', () => {
    const lane = withNewestLimits(laneWith(), limits, 10);
    expect(lane).toMatchObject({ ...limits, limitsMadeAt: 10 });
    expect(withNewestLimits(lane, { ...limits, rate: 4 }, 10)).toMatchObject({ rate: 4, limitsMadeAt: 10 });
    expect(withNewestLimits(lane, { parallelism: 9 }, 9)).toBe(lane);
    // An older message that arrives late changes nothing, even if the newer one did not either.
    const same = withNewestLimits(lane, limits, 12);
    expect(same).toEqual({ ...lane, limitsMadeAt: 12 });
    expect(withNewestLimits(same, { parallelism: 9 }, 11)).toBe(same);
    expect(withNewestLimits(same, limits, 12)).toBe(same);
  });

  it('are those of the message’s key, whose period is in seconds', () => {
    expect(limitsOfKey({ parallelism: 2, rate: 3, period: 60 })).toEqual({ ...limits, periodMs: 60_000 });
    expect(limitsOfKey({ parallelism: 2 }).periodMs).toBeUndefined();
  });
});

describe('an unused key', () => {
  it('is kept for delayed messages in steps of 30 days, so that few of them write it', () => {
    const lane = keptUntilAtLeast(laneWith(), 31 * dayMs);
    expect(lane.keptUntil).toBe(60 * dayMs);
    expect(keptUntilAtLeast(lane, 60 * dayMs)).toBe(lane);
    expect(keptUntilAtLeast(lane, 60 * dayMs + 1).keptUntil).toBe(90 * dayMs);
  });
});
