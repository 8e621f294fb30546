import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  hasStep,
  lastStep,
  stepMarks,
  withStep,
  type StepMark,
  type StepSets,
} from '../../../../lambdas/workflow/rules/placing.ts';

const marks = fc.array(fc.tuple(fc.constantFrom(...stepMarks), fc.integer({ min: 1, max: 40 })), {
  maxLength: 120,
});
const superfluous: readonly StepMark[] = ['plan', 'call', 'invoke'];

describe('the sets of steps', () => {
  it('equal plain sets', () => {
    fc.assert(
      fc.property(marks, (added) => {
        let sets: StepSets = {};
        const plain = new Map(stepMarks.map((mark) => [mark, new Set<number>()]));
        for (const [mark, stepId] of added) {
          sets = withStep(sets, mark, stepId);
          plain.get(mark)?.add(stepId);
          if (mark === 'result') for (const other of superfluous) plain.get(other)?.delete(stepId);
        }
        for (const mark of stepMarks) {
          const has = plain.get(mark) ?? new Set();
          for (let stepId = 0; stepId <= 41; stepId += 1) {
            expect(hasStep(sets, mark, stepId)).toBe(has.has(stepId));
          }
          expect(lastStep(sets, mark)).toBe(Math.max(0, ...has));
        }
      }),
    );
  });

  it('take a few characters for a long run', () => {
    let sets: StepSets = {};
    for (let stepId = 1; stepId <= 5_000; stepId += 2) {
      sets = withStep(sets, stepId % 4 === 1 ? 'call' : 'plan', stepId);
      sets = withStep(sets, 'result', stepId);
      sets = withStep(sets, 'result', stepId + 1);
    }
    expect(sets).toEqual({ call: '', plan: '', result: '1-5000' });
  });

  it('distinguish ranges that touch from those that do not', () => {
    const sets = [3, 1, 2, 7, 5].reduce<StepSets>((all, stepId) => withStep(all, 'wait', stepId), {});
    expect(sets).toEqual({ wait: '1-3,5,7' });
  });
});
