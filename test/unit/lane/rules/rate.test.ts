import { array, assert, integer, property, record, type Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newLane } from '../../../../lambdas/lane/lane.ts';
import { enter } from '../../../../lambdas/lane/rules/arrival.ts';
import {
  countStart,
  freeStarts,
  nextFreeStart,
  recentStarts,
  startsInPeriod,
  uncountStart,
  type Starts,
} from '../../../../lambdas/lane/rules/rate.ts';

interface Rated {
  readonly rate: number;
  readonly periodMs?: number;
  readonly starts: readonly Starts[];
}

const laneOf = (rate: number, periodMs: number): Rated => ({ rate, periodMs, starts: [] });
const counted = (lane: Rated, moments: readonly number[]): Rated =>
  moments.reduce((found, at) => countStart(found, at), lane);
const momentsUpTo = (max: number): Arbitrary<number[]> => array(integer({ min: 0, max }), { maxLength: 80 });

/** The number of times that a lane remembers. */
const remembered = 24;

describe('the starts of a lane', () => {
  it('count for one second if the rate has no period', () => {
    const lane: Rated = countStart({ rate: 2, starts: [] }, 5_000);
    expect(freeStarts(lane, 5_999)).toBe(1);
    expect(freeStarts(lane, 6_000)).toBe(2);
    expect(nextFreeStart(countStart(lane, 5_000), 5_500)).toBe(6_000);
  });

  it('count for a whole week if that is the period', () => {
    const week = 604_800_000;
    const lane = counted(laneOf(2, week), [0]);
    expect([freeStarts(lane, week - 1), freeStarts(lane, week)]).toEqual([1, 2]);
  });

  it('never exceed the rate within any span of the period', () => {
    const gaps = array(integer({ min: 0, max: 120 }), { minLength: 40, maxLength: 100 });
    const arrival = { isYoung: false, until: undefined, hasWaited: false, mayHaveStarted: false };
    assert(
      property(gaps, integer({ min: 1, max: 60 }), (waits, rate) => {
        const empty = newLane({ accountId: 'acct', kind: 'key', name: 'k' }, 0, { rate, periodMs: 1_000 });
        let [lane, time] = [empty, 0];
        const made: number[] = [];
        for (const [index, gap] of waits.entries()) {
          time += gap;
          const entered = enter({ ...lane, line: empty.line }, { ...arrival, entry: String(index) }, time);
          if (entered.result === 'in') made.push(time);
          lane = entered.lane;
        }
        const within = made.map((until) => made.filter((at) => at <= until && at > until - 1_000).length);
        expect(Math.max(0, ...within)).toBeLessThanOrEqual(rate);
      }),
    );
  });

  it('do not count if there is no rate', () => {
    const lane = { starts: [{ at: 5_000, count: 3 }] };
    expect(countStart(lane, 5_500)).toBe(lane);
    expect(recentStarts(lane, 5_500)).toEqual([]);
    expect(freeStarts(lane, 5_500)).toBe(Infinity);
    expect(nextFreeStart(lane, 5_500)).toBe(5_500);
  });

  it('at the same time are counted together and kept in order, even if one is counted ahead', () => {
    const { starts } = counted(laneOf(9, 1_000), [500, 900, 700, 500, 900, 900]);
    expect(starts).toEqual([
      { at: 500, count: 2 },
      { at: 700, count: 1 },
      { at: 900, count: 3 },
    ]);
  });

  it('leave no capacity if the rate was lowered below them', () => {
    const lane = { ...counted(laneOf(5, 1_000), [0, 0, 0]), rate: 2 };
    expect(freeStarts(lane, 500)).toBe(0);
    expect(freeStarts(lane, 1_000)).toBe(2);
  });
});

describe('the next start', () => {
  it('is allowed when enough earlier ones no longer count, even if the rate was lowered below them', () => {
    const lane = { ...counted(laneOf(5, 1_000), [0, 0, 0, 500, 500]), rate: 2 };
    // At 1,000 two starts still count, which is the rate.
    expect(nextFreeStart(lane, 600)).toBe(1_500);
    expect(nextFreeStart({ ...lane, rate: 3 }, 600)).toBe(1_000);
  });

  it('is allowed as soon as the rate permits it', () => {
    const moments = array(integer({ min: 0, max: 300 }), { maxLength: 60 });
    assert(
      property(moments, integer({ min: 1, max: 30 }), integer({ min: 0, max: 300 }), (all, rate, now) => {
        const lane = counted(laneOf(rate, 100), all);
        let first = now;
        while (first < 1_000 && freeStarts(lane, first) === 0) first += 1;
        expect(nextFreeStart(lane, now)).toBe(first);
      }),
    );
  });
});

describe('a lane that remembers fewer times than there were starts', () => {
  it('never counts too few starts, and forgets none', () => {
    assert(
      property(momentsUpTo(5_000), integer({ min: 0, max: 6_000 }), (moments, now) => {
        const lane = counted(laneOf(1_000, 1_000), moments);
        expect(lane.starts.length).toBeLessThanOrEqual(remembered);
        expect(lane.starts.reduce((sum, { count }) => sum + count, 0)).toBe(moments.length);
        const made = moments.filter((at) => at > now - 1_000).length;
        expect(startsInPeriod(lane, now)).toBeGreaterThanOrEqual(made);
      }),
    );
  });

  it('merges the two closest times into the later one', () => {
    const spread = Array.from({ length: remembered }, (_, index) => 100 * index);
    const lane = counted(laneOf(1_000, 10_000), [...spread, 700, 700]);
    expect(lane.starts).toHaveLength(remembered);
    for (const [close, merged] of [
      [705, 705],
      [695, 700],
      [5, 5],
      [2_305, 2_305],
    ] as const) {
      const { starts } = countStart(lane, close);
      const expected = spread
        .map((at) => ({ at, count: at === 700 ? 3 : 1 }))
        .flatMap((one): readonly Starts[] =>
          Math.abs(one.at - close) === 5 ? [{ at: merged, count: one.count + 1 }] : [one],
        );
      expect(starts).toEqual(expected);
    }
  });

  it('merges the earliest of several equally close pairs, which expire first', () => {
    const spread = Array.from({ length: remembered + 1 }, (_, index) => 100 * index);
    const { starts } = counted(laneOf(1_000, 10_000), spread);
    expect(starts.slice(0, 2)).toEqual([
      { at: 100, count: 2 },
      { at: 200, count: 1 },
    ]);
  });
});

describe('a start that was counted and not made', () => {
  const lane = counted(laneOf(9, 1_000), [500, 700, 700]);

  it('makes room for another', () => {
    expect(uncountStart(lane, 500).starts).toEqual([{ at: 700, count: 2 }]);
    expect(uncountStart(lane, 700).starts).toEqual([
      { at: 500, count: 1 },
      { at: 700, count: 1 },
    ]);
  });

  it('changes nothing if it is not remembered', () => {
    expect(uncountStart(lane, undefined)).toBe(lane);
    expect(uncountStart(lane, 499)).toBe(lane);
    expect(uncountStart(lane, 701)).toEqual(lane);
    const empty = laneOf(9, 1_000);
    expect(uncountStart(empty, 500)).toBe(empty);
  });

  it('is subtracted from the time that it was merged into', () => {
    expect(uncountStart(lane, 600).starts).toEqual([
      { at: 500, count: 1 },
      { at: 700, count: 1 },
    ]);
  });

  it('leaves the starts as if it had not been counted, whenever it is removed', () => {
    const few = record({
      moments: array(integer({ min: 0, max: 500 }), { maxLength: remembered - 1 }),
      at: integer({ min: 0, max: 500 }),
    });
    assert(
      property(few, ({ moments, at }) => {
        const before = counted(laneOf(9, 1_000), moments);
        expect(uncountStart(countStart(before, at), at)).toEqual(before);
      }),
    );
  });
});
