import { describe, expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs, secondMs } from '../../../../lambdas/shared/clock.ts';
import type { Header } from '../../../../lambdas/shared/headers.ts';
import { retryAfterOf } from '../../../../lambdas/destination/retryAfter.ts';
import { parseStepDurationMs } from '../../../../lambdas/workflow/rules/time.ts';

const now = 1_790_000_000_000;

describe('the duration of a sleep or a wait', () => {
  it.each([
    [5, 5 * secondMs],
    [0, 0],
    [1.5, 1_500],
    ['30', 30 * secondMs],
    ['10m', 10 * minuteMs],
    ['1.5s', 1_500],
    ['0.0001s', 1],
    ['1d12h', 36 * hourMs],
    [' 7d ', 7 * dayMs],
    ['1w', 7 * dayMs],
    ['1mo', 30 * dayMs],
    ['1y', 365 * dayMs],
    ['1.25', 1_250],
    ['100000d', 100_000 * dayMs],
    [8.64e9, 100_000 * dayMs],
  ])('is read from %j', (value, ms) => {
    expect(parseStepDurationMs('timeout', value)).toBe(ms);
  });

  it.each([
    '',
    's',
    '5 m',
    'x5m',
    '5m!',
    '1.x5',
    '100001d',
    '-1',
    -1,
    NaN,
    Infinity,
    '1s1s',
    '1h1x',
    '1e3',
    '9'.repeat(13),
    '999999y',
    1e12,
  ])('is refused: %j', (value) => {
    expect(() => parseStepDurationMs('timeout', value)).toThrow(expect.objectContaining({ status: 412 }));
    expect(() => parseStepDurationMs('timeout', value)).toThrow(
      `timeout is "${value}"; allowed are seconds, or a number and a unit (s, m, h, d, w, mo, y), as in "10m".`,
    );
  });
});

describe('the wait that an endpoint asks for', () => {
  it.each([
    ['5', now + 5 * secondMs],
    ['30s', now + 30 * secondMs],
    ['5m', now + 5 * minuteMs],
    ['2h', now + 2 * hourMs],
    ['1d', now + dayMs],
    ['1d2h', now + dayMs + 2 * hourMs],
    ['6m5s', now + 6 * minuteMs + 5 * secondMs],
    ['Mon, 21 Sep 2026 14:14:20 GMT', now + minuteMs],
    ['soon', undefined],
  ])('is read from %j', (value, moment) => {
    expect(retryAfterOf({ status: 500, headers: [['retry-after', value]] }, now)).toBe(moment);
  });

  it('of several headers ends at the latest time', () => {
    const headers: readonly Header[] = [
      ['retry-after', '1d'],
      ['x-ratelimit-reset', '5'],
    ];
    expect(retryAfterOf({ status: 429, headers }, now)).toBe(now + dayMs);
    expect(retryAfterOf({ status: 500, headers: [] }, now)).toBeUndefined();
  });
});
