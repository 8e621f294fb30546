import { describe, expect, it } from 'vitest';
import {
  countedFrom,
  countsOf,
  knownOutcomes,
  messageOutcomeOf,
  stepsAt,
  withoutPast,
} from '../../../lambdas/statistics/outcomes.ts';
import type { AttemptState } from '../../../lambdas/message/message.ts';

const at = (text: string): number => Date.parse(`${text}Z`);
const record = (text: string, state?: AttemptState) => ({ recordedAt: at(text), state });

describe('a record of the log', () => {
  it.each([
    ['DELIVERED', 'delivered'],
    ['FAILED', 'failed'],
    [undefined, 'cancelled'],
    ['RETRY', undefined],
    ['CANCELED', undefined],
    // The attempt waits for its host.
    ['HELD', undefined],
  ] as const)('of %s is the outcome %s', (state, outcome) => {
    expect(messageOutcomeOf({ recordedAt: 0, state })).toBe(outcome);
  });
});

describe('outcomes', () => {
  it('of a period that is not wholly counted are unknown, not 0', () => {
    const some = { delivered: 3, failed: 0, cancelled: 0 };
    const unknown = { delivered: undefined, failed: undefined, cancelled: undefined };
    expect(knownOutcomes(some, 100)).toEqual(some);
    expect(knownOutcomes(some, 100, 100)).toEqual(some);
    expect(knownOutcomes(some, 100, 99)).toEqual({ ...unknown, delivered: 3 });
    expect(knownOutcomes(undefined, 100, 99)).toEqual(unknown);
    expect(knownOutcomes(undefined, 100)).toEqual({ delivered: 0, failed: 0, cancelled: 0 });
  });

  it('are counted in the hour and on the day (UTC) in which they were recorded', () => {
    const { hours, days } = countsOf([
      record('2026-11-20T23:59:59.999', 'DELIVERED'),
      record('2026-11-21T00:00:00.000', 'DELIVERED'),
      record('2026-11-21T00:59:59.999', 'FAILED'),
      record('2026-11-21T01:00:00.000'),
      record('2026-11-21T01:30:00.000', 'RETRY'),
    ]);
    expect([...hours]).toEqual([
      [at('2026-11-20T23:00'), { delivered: 1, failed: 0, cancelled: 0 }],
      [at('2026-11-21T00:00'), { delivered: 1, failed: 1, cancelled: 0 }],
      [at('2026-11-21T01:00'), { delivered: 0, failed: 0, cancelled: 1 }],
    ]);
    expect([...days]).toEqual([
      ['2026-11-20', { delivered: 1, failed: 0, cancelled: 0 }],
      ['2026-11-21', { delivered: 1, failed: 1, cancelled: 1 }],
    ]);
  });

  it('of the last hour are counted in steps of five minutes', () => {
    const now = at('2026-11-21T01:02');
    const counts = countsOf([
      record('2026-11-21T00:04:59.999', 'FAILED'),
      record('2026-11-21T00:05', 'FAILED'),
      record('2026-11-21T00:59:59.999', 'DELIVERED'),
      record('2026-11-21T01:00', 'DELIVERED'),
      record('2026-11-21T01:02', 'DELIVERED'),
    ]);
    expect([...withoutPast(counts, now).steps]).toEqual([
      [at('2026-11-21T00:05'), { delivered: 0, failed: 1, cancelled: 0 }],
      [at('2026-11-21T00:55'), { delivered: 1, failed: 0, cancelled: 0 }],
      [at('2026-11-21T01:00'), { delivered: 2, failed: 0, cancelled: 0 }],
    ]);
    const steps = stepsAt(now);
    expect([steps.length, steps[0], steps.at(-1)]).toEqual([
      12,
      at('2026-11-21T00:05'),
      at('2026-11-21T01:00'),
    ]);
  });

  it('are kept for 48 hours and 30 days', () => {
    const now = at('2026-11-30T12:34');
    const counts = countsOf([
      record('2026-10-31T23:59', 'FAILED'),
      record('2026-11-01T00:00', 'DELIVERED'),
      record('2026-11-28T12:59', 'DELIVERED'),
      record('2026-11-28T13:00', 'DELIVERED'),
    ]);
    const { hours, days } = withoutPast(counts, now);
    expect([...hours.keys()]).toEqual([at('2026-11-28T13:00')]);
    expect([...days.keys()]).toEqual(['2026-11-01', '2026-11-28']);
    expect(new Date(countedFrom(now)).toISOString()).toBe('2026-11-01T00:00:00.000Z');
  });
});
