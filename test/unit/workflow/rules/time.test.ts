import { describe, expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs, secondMs } from '../../../../lambdas/shared/clock.ts';
import { retryAfterOf } from '../../../../lambdas/destination/retryAfter.ts';
import { parseStepDurationMs } from '../../../../lambdas/workflow/rules/time.ts';

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

it('an endpoint may ask for a retry after days', () => {
  const headers = [['retry-after', '1d2h']] as const;
  expect(retryAfterOf({ status: 500, headers }, 0)).toBe(dayMs + 2 * hourMs);
});
