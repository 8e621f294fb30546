import { describe, expect, it } from 'vitest';
import { takeTokens, type TokenBucket } from '../../../../lambdas/usage/rules/tokenBucket.ts';

const now = 1_790_000_000_000;
/** Takes one token, like a request, from ten a second. */
const takeOne = (bucket: TokenBucket | undefined, at = now) => takeTokens(bucket, 1, 10, 1, at);

describe('a bucket', () => {
  it('is full at first, and gives as many tokens as are added within a second', () => {
    let bucket: TokenBucket | undefined;
    const left: number[] = [];
    for (let count = 0; count < 10; count += 1) {
      const taken = takeOne(bucket);
      expect(taken.isTaken).toBe(true);
      expect(taken.moreAt).toBe(count < 9 ? now : now + 100);
      left.push(taken.left);
      ({ bucket } = taken);
    }
    expect(left).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    expect(takeOne(bucket)).toEqual({
      bucket: { level: 0, at: now },
      isTaken: false,
      left: 0,
      moreAt: now + 100,
    });
  });

  it('fills at its rate, up to its size', () => {
    const empty: TokenBucket = { level: 0, at: now };
    expect(takeOne(empty, now + 99)).toMatchObject({ isTaken: false, moreAt: now + 100 });
    expect(takeOne(empty, now + 100)).toMatchObject({ isTaken: true, left: 0 });
    expect(takeOne(empty, now + 350)).toMatchObject({ isTaken: true, left: 2, bucket: { level: 2.5 } });
    expect(takeOne(empty, now + 60_000)).toMatchObject({ isTaken: true, left: 9 });
  });

  it('gives more than it has once, and nothing more until the debt is paid', () => {
    const large = takeTokens(undefined, 25, 10, 1, now);
    expect(large).toEqual({ bucket: { level: -15, at: now }, isTaken: true, left: 0, moreAt: now + 1_600 });
    expect(takeOne(large.bucket, now + 1_599)).toMatchObject({ isTaken: false, moreAt: now + 1_600 });
    expect(takeOne(large.bucket, now + 1_600)).toMatchObject({ isTaken: true });
  });

  it('holds one request if less than one token is added within a second', () => {
    const first = takeTokens(undefined, 1, 0.5, 1, now);
    expect(first).toMatchObject({ isTaken: true, left: 0, moreAt: now + 2_000 });
    expect(takeTokens(first.bucket, 1, 0.5, 1, now + 10_000).bucket.level).toBe(0);
  });

  it('fills from now on if the clock has stepped back', () => {
    const later: TokenBucket = { level: 0, at: now + 3_600_000 };
    const { bucket, isTaken, moreAt } = takeOne(later);
    expect([isTaken, moreAt]).toEqual([false, now + 100]);
    expect(takeOne(bucket, now + 100)).toMatchObject({ isTaken: true });
  });
});
