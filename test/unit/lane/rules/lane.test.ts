import { array, assert, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { grantNext } from '../../../../lambdas/lane/rules/grant.ts';
import { enter, keepWaiting, resume, joinLine } from '../../../../lambdas/lane/rules/arrival.ts';
import { cancelledUpTo, deleted } from '../../../../lambdas/lane/rules/cancelling.ts';
import {
  leaseTo,
  withNewestLimits,
  newLane,
  slotsInUse,
  type Lane,
  type Limits,
} from '../../../../lambdas/lane/lane.ts';
import { keepFor, leave, leaveCallback } from '../../../../lambdas/lane/rules/leaving.ts';
import { nextCheckAt } from '../../../../lambdas/lane/rules/checks.ts';
import { lengthOf } from '../../../../lambdas/lane/rules/line.ts';
import { freeStarts } from '../../../../lambdas/lane/rules/rate.ts';

const key = { accountId: 'acct', kind: 'key', name: 'k' } as const;
const laneWith = (limits: Limits): Lane => newLane(key, 0, limits);
const arrival = (entry: string, more: object = {}) => ({
  entry,
  isYoung: false,
  until: 1_000_000,
  hasWaited: false,
  mayHaveStarted: false,
  ...more,
});

describe('an attempt that arrives', () => {
  it('takes a slot if there is one, and otherwise joins the line', () => {
    const first = enter(laneWith({ parallelism: 1 }), arrival('a'), 0);
    expect(first.result).toBe('in');
    const second = enter(first.lane, arrival('b'), 0);
    expect(second.result).toBe('waits');
    expect(lengthOf(second.lane.line)).toBe(1);
  });

  it('does not overtake the line, even if there is capacity', () => {
    const lane = joinLine(laneWith({ parallelism: 2 }), 'a');
    expect(enter(lane, arrival('b'), 0).result).toBe('waits');
    expect(enter(lane, arrival('b', { hasWaited: true }), 0).result).toBe('in');
  });

  it('continues with its own lease, and is stale if another job has the lease', () => {
    const { lane } = enter(laneWith({ parallelism: 1 }), arrival('a', { ticket: 't' }), 0);
    expect(enter(lane, arrival('a', { ticket: 't' }), 0)).toEqual({ lane, result: 'in' });
    expect(enter(lane, arrival('a', { ticket: 'u', isYoung: true }), 0).result).toBe('early');
    expect(enter(lane, arrival('a', { ticket: 'u' }), 0).result).toBe('stale');
    // In a queue, an attempt is not granted a slot before its lease has ended.
    const queue: Lane = { ...lane, kind: 'queue' };
    expect(enter(queue, arrival('a', { ticket: 'u', isYoung: true }), 0).result).toBe('stale');
    expect(enter(queue, arrival('a', { ticket: 'u', isYoung: true }), 999_000).result).toBe('early');
    expect(enter(lane, arrival('b', { ticket: 'v', isYoung: true }), 0).result).toBe('early');
  });

  it('waits in a lane that is paused', () => {
    expect(enter({ ...laneWith({}), isPaused: true }, arrival('a'), 0).result).toBe('waits');
  });
});

describe('a rate', () => {
  it('is not exceeded within any span of the period, however many starts are remembered', () => {
    const gaps = array(integer({ min: 0, max: 120 }), { minLength: 40, maxLength: 100 });
    assert(
      property(gaps, integer({ min: 1, max: 60 }), (waits, rate) => {
        let lane = laneWith({ rate, periodMs: 1_000 });
        let time = 0;
        const starts: number[] = [];
        for (const [index, gap] of waits.entries()) {
          time += gap;
          const entered = enter({ ...lane, line: laneWith({}).line }, arrival(String(index)), time);
          if (entered.result === 'in') starts.push(time);
          lane = entered.lane;
        }
        const within = starts.map((until) => starts.filter((at) => at <= until && at > until - 1_000).length);
        expect(Math.max(0, ...within)).toBeLessThanOrEqual(rate);
        expect(lane.starts.length).toBeLessThanOrEqual(24);
      }),
    );
  });

  it('counts a late start once, when it is made', () => {
    const limits = { parallelism: 5, rate: 1, periodMs: 60_000 };
    const { lane } = enter(laneWith(limits), arrival('a'), 1_000);
    const late = enter(lane, arrival('a'), 3_000);
    expect(late.result).toBe('in');
    expect(late.lane.starts).toEqual([{ at: 3_000, count: 1 }]);
    // Another job of the same attempt may have made the first start.
    expect(enter(lane, arrival('a', { mayHaveStarted: true }), 3_000).result).toBe('waits');
  });

  it.each([{ parallelism: 5 }, {}])(
    'counts the start of an attempt that waits for another lane once, with %o',
    (more) => {
      const { lane } = enter(laneWith({ ...more, rate: 1, periodMs: 60_000 }), arrival('a'), 1_000);
      const waiting = keepWaiting(lane, 'a', 90_000, 1_000);
      expect(freeStarts(waiting, 2_000)).toBe(1);
      const resumed = resume(waiting, arrival('a'), undefined, 3_000);
      expect(resumed.result).toBe('in');
      expect(resumed.lane.starts).toEqual([{ at: 3_000, count: 1 }]);
      expect(freeStarts(keepWaiting(lane, 'a', 90_000, undefined), 2_000)).toBe(0);
      // The process learned late that the other lane has capacity.
      expect(resume(lane, arrival('a'), 1_000, 3_000)).toMatchObject({
        result: 'in',
        lane: { starts: [{ at: 3_000, count: 1 }] },
      });
    },
  );

  it('tells when there is capacity again', () => {
    const { lane } = enter(laneWith({ rate: 1, periodMs: 5_000 }), arrival('a'), 100);
    const { lane: full } = enter(lane, arrival('b'), 200);
    expect(nextCheckAt(full, 200)).toBe(5_100);
    expect(freeStarts(full, 5_099)).toBe(0);
    expect(freeStarts(full, 5_100)).toBe(1);
  });
});

describe('a message in a queue', () => {
  const lease = { slots: 1 };
  const holding = (): Lane => ({ ...laneWith({ parallelism: 1 }), leases: new Map([['m', lease]]) });

  it('keeps its slot until it and its callbacks are over, in any order', () => {
    const kept = keepFor(holding(), 'm', ['one', 'two']);
    const ways = [
      (lane: Lane) => leaveCallback(leaveCallback(leave(lane, 'm'), 'm', 'one'), 'm', 'two'),
      (lane: Lane) => leave(leaveCallback(leaveCallback(lane, 'm', 'two'), 'm', 'one'), 'm'),
    ];
    for (const way of ways) expect(way(kept).leases.size).toBe(0);
    expect(slotsInUse(leave(kept, 'm'), 0)).toBe(1);
    expect(slotsInUse(leaveCallback(kept, 'm', 'one'), 0)).toBe(1);
  });

  it('ends each step once, however often that is reported', () => {
    const once = keepFor(holding(), 'm', ['one']);
    expect(keepFor(once, 'm', ['one'])).toBe(once);
    const over = leave(once, 'm');
    expect(leave(over, 'm')).toBe(over);
    expect(leaveCallback(over, 'm', 'other')).toBe(over);
    expect(keepFor(leave(holding(), 'm'), 'm', ['late']).leases.size).toBe(0);
  });
});

describe('a process', () => {
  const process = (slots: number) => ({ process: 'p', slots, until: 100 });

  it('gets the free slots, and none while others wait', () => {
    const lane = laneWith({ parallelism: 3 });
    expect(leaseTo(lane, process(5), 0).result).toBe(3);
    expect(leaseTo(joinLine(lane, 'a'), process(5), 0).result).toBe(0);
  });

  it('that died keeps its slots until its lease ends', () => {
    const { lane } = leaseTo(laneWith({ parallelism: 3 }), process(3), 0);
    expect(slotsInUse(lane, 99)).toBe(3);
    expect(slotsInUse(lane, 100)).toBe(0);
  });
});

it('limits come from the newest message, except pinned ones', () => {
  const lane = withNewestLimits(laneWith({ parallelism: 1 }), { parallelism: 5, rate: 2 }, 10);
  expect(lane).toMatchObject({ parallelism: 5, rate: 2 });
  expect(withNewestLimits(lane, { parallelism: 9 }, 9)).toBe(lane);
  // An older message that arrives late changes nothing, even if the newer one did not either.
  const same = withNewestLimits(lane, { parallelism: 5, rate: 2 }, 12);
  expect(withNewestLimits(same, { parallelism: 9 }, 11)).toBe(same);
  expect(withNewestLimits(same, { parallelism: 5, rate: 2 }, 12)).toBe(same);
  const pinned = { ...lane, isPinnedParallelism: true };
  expect(withNewestLimits(pinned, { parallelism: 9, rate: 3 }, 11)).toMatchObject({
    parallelism: 5,
    rate: 3,
  });
});

it('the first in the line is granted its slot first, and only once', () => {
  const lane = joinLine(joinLine(joinLine(laneWith({ parallelism: 2 }), 'a'), 'a'), 'b');
  const first = grantNext(lane, () => ({ slots: 1 }), 0);
  expect(first).toMatchObject({ kind: 'granted', entry: 'a' });
  const second = 'lane' in first ? grantNext(first.lane, () => ({ slots: 1 }), 0) : first;
  expect(second.kind).toBe('dropped');
  const third = 'lane' in second ? grantNext(second.lane, () => ({ slots: 1 }), 0) : second;
  expect(third).toMatchObject({ kind: 'granted', entry: 'b' });
});

describe('a deleted queue', () => {
  /** A deleted queue with these entries in its line. The first has a slot. */
  const deletedWith = (...entries: readonly string[]): Lane =>
    deleted(
      entries.reduce((lane, entry) => joinLine(lane, entry), laneWith({ parallelism: 1 })),
      0,
      0,
    );

  it('has nothing left when all its messages are cancelled', () => {
    const lane = deletedWith('a', 'b');
    const [line] = lane.deletedLines;
    if (line === undefined) throw new Error('There is no deleted line.');
    const page = lane.line.firstPage;
    expect(cancelledUpTo(lane, line, page).deletedLines).toEqual([]);
  });

  it('is not created again by a second pump that cancels the same messages', () => {
    const [line] = deletedWith('a', 'b').deletedLines;
    if (line === undefined) throw new Error('There is no deleted line.');
    // The first pump has already removed the lane.
    const gone = laneWith({});
    expect(cancelledUpTo(gone, line, line.nextPage)).toBe(gone);
    // Or the queue was created again, filled and deleted.
    const other = deletedWith('c', 'd');
    expect(cancelledUpTo(other, line, line.nextPage)).toBe(other);
  });

  it('has one pump that cancels, and another once the first may have died', () => {
    const lane = deletedWith('a', 'b');
    const first = nextCheckAt(lane, 1_000_000);
    expect(first).toBe(1_000_100);
    expect(nextCheckAt({ ...lane, pumpAt: 1_000_100 }, 1_000_100)).toBe(1_070_100);
  });

  it('continues from the furthest page that any pump has reached', () => {
    const line = { entries: ['a'], firstPage: 0, nextPage: 9 };
    const lane = { ...deletedWith(), deletedLines: [line] };
    const far = cancelledUpTo(lane, line, 7);
    expect(far.deletedLines).toEqual([{ entries: [], firstPage: 7, nextPage: 9 }]);
    expect(cancelledUpTo(far, line, 4).deletedLines).toEqual(far.deletedLines);
  });
});
