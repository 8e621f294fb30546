import { afterEach, describe, expect, it, vi } from 'vitest';
import { steadyClock, watchClock } from '../../../../local/stage/clocks.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it('a steady clock follows the clock forward, and goes on where it steps back', () => {
  let time = 100_000;
  const steady = steadyClock(() => time);
  expect(steady()).toBe(100_000);
  time += 5;
  expect(steady()).toBe(100_005);
  time -= 50_000;
  expect(steady()).toBe(100_005);
  time += 10;
  expect(steady()).toBe(100_015);
});

describe('a watched clock', () => {
  it.each([-3_600_000, -40_000, 3_600_000])('tells that it stepped by %i ms, once', (stepMs) => {
    vi.useFakeTimers();
    const steps: number[] = [];
    const end = watchClock(() => {
      steps.push(Date.now());
    });
    vi.advanceTimersByTime(5_000);
    expect(steps).toEqual([]);
    // Fake timers go by, but only `Date` steps.
    const { now } = Date;
    vi.spyOn(Date, 'now').mockImplementation(() => now() + stepMs);
    vi.advanceTimersByTime(5_000);
    expect(steps).toHaveLength(1);
    end();
  });
});
