import { array, assert, nat, property, tuple } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { depthHours, depthsAt, noteDepth } from '../../../../lambdas/lane/rules/depths.ts';

const hourMs = 3_600_000;
const start = 500_000 * hourMs;

/** The hour, and the number of waiting attempts from then on. */
type Write = readonly [hour: number, waiting: number];

function written(writes: readonly Write[]): { readonly text: string | undefined; readonly waiting: number } {
  let text: string | undefined;
  let waiting = 0;
  for (const [hour, after] of writes) {
    text = noteDepth(text, { before: waiting, after }, start + hour * hourMs);
    waiting = after;
  }
  return { text, waiting };
}

function shownAt(writes: readonly Write[], hour: number): readonly number[] {
  const { text, waiting } = written(writes);
  return depthsAt(text, waiting, start + hour * hourMs).map(({ depth }) => depth);
}

/** Returns these depths for the last hours, and 0 before. */
const endingWith = (...depths: readonly number[]): readonly number[] => [
  ...Array.from({ length: depthHours - depths.length }, () => 0),
  ...depths,
];

describe('the depths of a lane', () => {
  it('are undefined and cost nothing if nothing waited for a day', () => {
    const never = written([
      [0, 0],
      [3, 0],
    ]);
    expect(never).toEqual({ text: undefined, waiting: 0 });
    expect(shownAt([], 5)).toEqual(endingWith());
    const once: readonly Write[] = [
      [0, 7],
      [0.5, 0],
    ];
    expect(shownAt(once, 23.9)).toEqual([7, ...endingWith().slice(1)]);
    expect(shownAt(once, 24)).toEqual(endingWith());
    expect(written([...once, [24, 0]]).text).toBeUndefined();
  });

  it('include attempts that have kept waiting since the last write', () => {
    expect(shownAt([[0, 7]], 2)).toEqual(endingWith(7, 7, 7));
    expect(shownAt([[0, 7]], 100)).toEqual(Array.from({ length: depthHours }, () => 7));
  });

  it('are kept by a process whose clock is behind', () => {
    const writes: readonly Write[] = [
      [5, 7],
      [3.9, 8],
      [5.1, 0],
    ];
    expect(shownAt(writes, 5.5)).toEqual(endingWith(8, 0, 8));
  });

  it('equal the maxima of a list of all writes, and take few bytes', () => {
    const minutes = 60;
    const write = tuple(nat(6 * minutes), nat(2_000));
    assert(
      property(array(write, { maxLength: 30 }), (gaps) => {
        let minute = 0;
        const writes = gaps.map(([gap, waiting]): Write => [(minute += gap) / minutes, waiting]);
        const now = minute / minutes;
        const plain = Array.from({ length: depthHours }, (_, index) => {
          const hour = Math.floor(now) - depthHours + 1 + index;
          const within = writes.filter(
            ([from], place) => Math.floor(from) <= hour && hour <= Math.floor(writes[place + 1]?.[0] ?? now),
          );
          return Math.max(0, ...within.map(([, waiting]) => waiting));
        });
        expect(shownAt(writes, now)).toEqual(plain);
        expect(Buffer.byteLength(written(writes).text ?? '')).toBeLessThanOrEqual(5 + 4 * depthHours);
      }),
    );
  });
});
