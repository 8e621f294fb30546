import { describe, expect, it } from 'vitest';
import { joinLine } from '../../../../lambdas/lane/rules/arrival.ts';
import {
  asQueue,
  circuitLane,
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

  it('grow as far as there is capacity, and last until its new lease ends', () => {
    const { lane, result } = leaseTo(held, wants(5, 200), 50);
    expect(result).toBe(3);
    expect([...lane.leases]).toEqual([['process#p', { slots: 3, until: 200 }]]);
  });

  it('shrink, and end with none', () => {
    const { lane, result } = leaseTo(held, wants(1, 200), 50);
    expect(result).toBe(1);
    expect([...lane.leases]).toEqual([['process#p', { slots: 1, until: 200 }]]);
    const none = leaseTo(held, wants(0), 50);
    expect(none).toMatchObject({ result: 0, lane: { leases: new Map() } });
    expect(none.lane.leases.size).toBe(0);
  });

  it('are renewed though the lane is full, paused, or others wait', () => {
    const full = withLease(held, 'a', { slots: 1, until: 900 });
    for (const lane of [full, { ...held, isPaused: true }, joinLine(held, 'a')]) {
      const renewed = leaseTo(lane, wants(2, 200), 50);
      expect(renewed.result).toBe(2);
      expect(renewed.lane.leases.get('process#p')).toEqual({ slots: 2, until: 200 });
    }
  });

  it('stay as they are, and nothing is written, where it gets none of those that it wants besides', () => {
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
  it('has as many slots free as its limit leaves, any number without one, and never fewer than none', () => {
    const busy = withLease(withLease(laneWith({ parallelism: 4 }), 'a', { slots: 2, until: 100 }), 'b', {
      slots: 1,
    });
    expect([slotsInUse(busy, 99), freeSlots(busy, 99)]).toEqual([3, 1]);
    expect([slotsInUse(busy, 100), freeSlots(busy, 100)]).toEqual([1, 3]);
    expect(freeSlots({ ...busy, parallelism: 2 }, 99)).toBe(0);
    expect(freeSlots({ ...busy, parallelism: undefined }, 99)).toBe(Infinity);
  });

  it('that is new has no limits but those it is given, and nothing in it', () => {
    const lane = newLane(circuitLane('acct', 'host:81'), 7, { rate: 2 });
    expect(lane).toMatchObject({ accountId: 'acct', kind: 'circuit', name: 'host:81', rate: 2, version: 0 });
    expect(lane).toMatchObject({
      isPinnedParallelism: false,
      isPinnedRate: false,
      isPaused: false,
      isDeleted: false,
    });
    expect([lane.createdAt, lane.updatedAt, lane.starts, lane.deletedLines]).toEqual([7, 7, [], []]);
  });

  it('counts as in flight who has a slot, but not a message that waits for its callbacks only', () => {
    const over = withLease(laneWith(), 'a', { slots: 1, isOver: true });
    const two = withLease(withLease(over, 'b', { slots: 1 }), 'c', { slots: 1 });
    expect(inFlightIn(two)).toBe(2);
  });

  it('forgets leases that have ended and starts that no longer count, and else stays as it is', () => {
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
  it('is made with a parallelism of 1 where it is not there, also in place of a deleted one', () => {
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

  it('that is there stays as it is', () => {
    const queue: Lane = { ...laneWith({ parallelism: 7 }), version: 1 };
    expect(isThere(queue)).toBe(true);
    expect(asQueue(queue, 50)).toBe(queue);
  });
});

describe('the limits of a lane', () => {
  const limits = { parallelism: 2, rate: 3, periodMs: 1_000 };

  it('that are set again are nothing to write; each of them is one to write', () => {
    const lane = laneWith(limits);
    expect(withLimits(lane, { ...limits })).toBe(lane);
    for (const changed of [{ parallelism: 9 }, { rate: 9 }, { periodMs: 9_000 }, { rate: undefined }]) {
      expect(withLimits(lane, { ...limits, ...changed })).toEqual({ ...lane, ...changed });
    }
  });

  it('are set by a message that was made in the same millisecond as the one before', () => {
    const lane = withNewestLimits(laneWith(), limits, 10);
    expect(lane).toMatchObject({ ...limits, limitsMadeAt: 10 });
    expect(withNewestLimits(lane, { ...limits, rate: 4 }, 10)).toMatchObject({ rate: 4, limitsMadeAt: 10 });
    expect(withNewestLimits(lane, limits, 11)).toEqual({ ...lane, limitsMadeAt: 11 });
  });

  it('are those of a message’s key, whose period is in seconds', () => {
    expect(limitsOfKey({ parallelism: 2, rate: 3, period: 60 })).toEqual({ ...limits, periodMs: 60_000 });
    expect(limitsOfKey({ parallelism: 2 }).periodMs).toBeUndefined();
  });
});

describe('a key that nobody uses', () => {
  it('is kept for delayed messages in steps of 30 days, so that few of them write it', () => {
    const lane = keptUntilAtLeast(laneWith(), 31 * dayMs);
    expect(lane.keptUntil).toBe(60 * dayMs);
    expect(keptUntilAtLeast(lane, 60 * dayMs)).toBe(lane);
    expect(keptUntilAtLeast(lane, 60 * dayMs + 1).keptUntil).toBe(90 * dayMs);
  });
});
