import { describe, expect, it } from 'vitest';
import { isQuiet } from '../../../../lambdas/alarm/rules/quietHours.ts';

const at = (text: string): number => Date.parse(text);

describe('quiet hours', () => {
  it.each([
    ['2026-01-10T21:00:00Z', true],
    ['2026-01-11T06:00:00Z', false],
    // In summer the zone’s clocks are two hours ahead.
    ['2026-07-10T20:00:00Z', true],
    ['2026-07-11T05:00:00Z', false],
  ])('pass midnight in their time zone: at %s they are %s', (text, isIn) => {
    const hours = { from: '22:00', to: '07:00', timezone: 'Europe/Berlin' };
    expect(isQuiet(hours, at(text))).toBe(isIn);
  });

  it.each([
    ['2026-01-10T12:15:00Z', true],
    ['2026-01-10T13:30:00Z', false],
  ])('may be within a day: at %s they are %s', (text, isIn) => {
    expect(isQuiet({ from: '12:15', to: '13:30', timezone: 'UTC' }, at(text))).toBe(isIn);
  });

  it('are never active if they are not set', () => {
    expect(isQuiet(undefined, at('2026-01-10T03:00:00Z'))).toBe(false);
  });
});
