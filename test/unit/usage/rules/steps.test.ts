import { describe, expect, it } from 'vitest';
import { aheadOf, stepOf } from '../../../../lambdas/usage/rules/steps.ts';

const enough = 1_000_000;

describe('a step', () => {
  it.each([
    [0, 1],
    [15, 1],
    [16, 2],
    [48, 6],
    [10_000, 6],
    [100_000, 62],
  ])('of an account with %d messages is %d', (count, step) => {
    expect(stepOf(count, enough, 1, 0)).toBe(step);
  });

  it.each([
    [0, 1],
    [31, 1],
    [32, 2],
    [1_000, 6],
  ])('with room for %d more messages is %d', (room, step) => {
    expect(stepOf(10_000, room, 1, 0)).toBe(step);
  });

  it('of all processes together is at most half of the slack', () => {
    for (const processes of [10, 20, 50]) {
      expect(stepOf(1_000_000, enough, 1 / processes, 0) * processes).toBeLessThanOrEqual(5_000);
    }
    expect(stepOf(1_000_000, enough, 1 / 50, 0)).toBe(100);
  });

  it.each([1, 10, 1_000])(
    'of each of %d processes is at least a two-hundredth of all messages in a second',
    (processes) => {
      expect(stepOf(0, enough, 1 / processes, 10_000)).toBe(50);
      expect(stepOf(0, enough, 1 / processes, 199)).toBe(1);
      expect(stepOf(0, enough, 1 / processes, 1_000_000)).toBe(50);
    },
  );

  it('is short if a limit leaves little room, at any rate', () => {
    expect(stepOf(1_000_000, 320, 1 / 10, 10_000)).toBe(16);
    expect(stepOf(1_000_000, 15, 1, 10_000)).toBe(1);
  });
});

function reportedBy(messages: number, step: number, phase: number): number {
  const ahead = aheadOf(step, phase);
  let reported = 0;
  for (let counted = 1; counted <= messages; counted += 1) {
    if (counted - reported >= step - ahead) reported = counted + ahead;
  }
  return reported;
}

describe('processes that end', () => {
  it.each([1, 2, 5, 6, 7, 12, 15, 100])(
    'after %d messages each are counted right on average, and each within a step',
    (messages) => {
      for (const step of [1, 2, 6, 7, 62]) {
        const phases = Array.from({ length: step }, (_, number) => number / step);
        const reported = phases.map((phase) => reportedBy(messages, step, phase));
        expect(reported.reduce((sum, one) => sum + one, 0)).toBe(messages * step);
        for (const one of reported) expect(Math.abs(one - messages)).toBeLessThan(step);
      }
    },
  );
});
