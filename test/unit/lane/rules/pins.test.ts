import { describe, expect, it } from 'vitest';
import { grantNext } from '../../../../lambdas/lane/rules/grant.ts';
import { enter } from '../../../../lambdas/lane/rules/arrival.ts';
import { withNewestLimits, newLane, type Lane } from '../../../../lambdas/lane/lane.ts';
import { pinned, unpinned, forgetStarts } from '../../../../lambdas/lane/rules/pins.ts';

const key = { accountId: 'acct', kind: 'key', name: 'tenant' } as const;
const lane = newLane(key, 0, { parallelism: 2, rate: 3, periodMs: 1_000 });
const limitsOf = ({ parallelism, rate, periodMs }: Lane) => ({ parallelism, rate, periodMs });
const message = { parallelism: 20, rate: 30, periodMs: 60_000 };

describe('a pin', () => {
  it('of the parallelism keeps it, and messages still set the rate', () => {
    const after = withNewestLimits(pinned(lane, { parallelism: 7 }), message, 1);
    expect(after).toMatchObject({ isPinnedParallelism: true, isPinnedRate: false });
    expect(limitsOf(after)).toEqual({ ...message, parallelism: 7 });
  });

  it('of the rate keeps the rate and its period, and messages still set the parallelism', () => {
    const after = withNewestLimits(pinned(lane, { rate: 7, periodMs: 9_000 }), message, 1);
    expect(after).toMatchObject({ isPinnedParallelism: false, isPinnedRate: true });
    expect(limitsOf(after)).toEqual({ parallelism: 20, rate: 7, periodMs: 9_000 });
  });

  it('does not change another pin', () => {
    const after = pinned(pinned(lane, { parallelism: 7 }), { rate: 8, periodMs: 9_000 });
    expect(after).toMatchObject({ isPinnedParallelism: true, isPinnedRate: true });
    expect(limitsOf(after)).toEqual({ parallelism: 7, rate: 8, periodMs: 9_000 });
    expect(limitsOf(withNewestLimits(after, message, 1))).toEqual(limitsOf(after));
  });

  it('that is removed keeps its value until the next message', () => {
    const both = pinned(lane, { parallelism: 7, rate: 8, periodMs: 9_000 });
    const one = unpinned(both, { parallelism: true, rate: false });
    expect(limitsOf(one)).toEqual(limitsOf(both));
    expect(limitsOf(withNewestLimits(one, message, 1))).toEqual({
      parallelism: 20,
      rate: 8,
      periodMs: 9_000,
    });
    expect(unpinned(both, { parallelism: false, rate: true })).toMatchObject({
      isPinnedParallelism: true,
      isPinnedRate: false,
    });
    const none = unpinned(one, { parallelism: false, rate: true });
    expect(none).toMatchObject({ isPinnedParallelism: false, isPinnedRate: false });
    expect(limitsOf(withNewestLimits(none, message, 1))).toEqual(message);
  });
});

describe('a rate that is reset', () => {
  it('allows waiting attempts to start at once, up to the rate', () => {
    let full = newLane(key, 0, { rate: 2, periodMs: 1_000 });
    const arrival = { isYoung: false, until: 500, hasWaited: false, mayHaveStarted: false };
    for (const entry of ['a', 'b', 'c', 'd', 'e']) full = enter(full, { ...arrival, entry }, 10).lane;
    const step = (from: Lane) => grantNext(from, () => ({ slots: 1 }), 10);
    expect(step(full).kind).toBe('none');
    const first = step(forgetStarts(full));
    expect(first).toMatchObject({ kind: 'granted', entry: 'c' });
    const second = 'lane' in first ? step(first.lane) : first;
    expect(second).toMatchObject({ kind: 'granted', entry: 'd' });
    expect('lane' in second ? step(second.lane).kind : '').toBe('none');
  });
});
