import { describe, expect, it } from 'vitest';
import { grantNext } from '../../../../lambdas/lane/rules/grant.ts';
import { enter, joinLine } from '../../../../lambdas/lane/rules/arrival.ts';
import { withNewestLimits, newLane, type Lane } from '../../../../lambdas/lane/lane.ts';
import { pinned, unpinned, forgetStarts } from '../../../../lambdas/lane/rules/pins.ts';

const key = { accountId: 'acct', kind: 'key', name: 'tenant' } as const;
const lane = newLane(key, 0, { parallelism: 2, rate: 3, periodMs: 1_000 });
const limitsOf = ({ parallelism, rate, periodMs }: Lane) => ({ parallelism, rate, periodMs });
const message = { parallelism: 20, rate: 30, periodMs: 60_000 };

describe('a pin', () => {
  it('of the parallelism holds it, and lets messages set the rate', () => {
    const after = withNewestLimits(pinned(lane, { parallelism: 7 }), message, 1);
    expect(after).toMatchObject({ isPinnedParallelism: true, isPinnedRate: false });
    expect(limitsOf(after)).toEqual({ ...message, parallelism: 7 });
  });

  it('of the rate holds it and its period, and lets messages set the parallelism', () => {
    const after = withNewestLimits(pinned(lane, { rate: 7, periodMs: 9_000 }), message, 1);
    expect(after).toMatchObject({ isPinnedParallelism: false, isPinnedRate: true });
    expect(limitsOf(after)).toEqual({ parallelism: 20, rate: 7, periodMs: 9_000 });
  });

  it('leaves the other limits as they are until a message brings others', () => {
    expect(limitsOf(pinned(lane, { parallelism: 7 }))).toEqual({ parallelism: 7, rate: 3, periodMs: 1_000 });
    expect(limitsOf(pinned(lane, { rate: 7, periodMs: 9_000 }))).toEqual({
      parallelism: 2,
      rate: 7,
      periodMs: 9_000,
    });
  });

  it('leaves another pin as it is', () => {
    const after = pinned(pinned(lane, { parallelism: 7 }), { rate: 8, periodMs: 9_000 });
    expect(after).toMatchObject({ isPinnedParallelism: true, isPinnedRate: true });
    expect(limitsOf(after)).toEqual({ parallelism: 7, rate: 8, periodMs: 9_000 });
    expect(limitsOf(withNewestLimits(after, message, 1))).toEqual(limitsOf(after));
  });

  it('that is removed leaves its value until the next message', () => {
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

  it('that is not there is not made by removing nothing', () => {
    expect(unpinned(lane, { parallelism: false, rate: false })).toEqual(lane);
  });
});

describe('a rate that is reset', () => {
  it('lets those that wait start at once, as many as the rate', () => {
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

  it('changes nothing where nothing has started', () => {
    const waiting = joinLine(newLane(key, 0), 'a');
    expect(forgetStarts(waiting)).toEqual(waiting);
  });
});
