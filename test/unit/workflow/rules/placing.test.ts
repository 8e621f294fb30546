import { describe, expect, it } from 'vitest';
import { checkGroup, checkPlace, checkCapacity } from '../../../../lambdas/workflow/rules/placing.ts';
import type { Step } from '../../../../lambdas/workflow/rules/step.ts';

const step = (kind: Step['kind'], stepId: number, concurrent = 1): Step => ({
  kind,
  stepId,
  concurrent,
  stepName: 'step',
  stepType: 'Run',
});
const refused = expect.objectContaining({ status: 412 }) as Error;

describe('a submission', () => {
  it.each<[what: string, steps: readonly Step[]]>([
    ['nothing', []],
    ['one result', [step('result', 4)]],
    ['a group of one', [step('plan', 4)]],
    ['a group', [step('plan', 4, 3), step('plan', 5, 3), step('plan', 6, 3)]],
  ])('may be %s', (_, steps) => {
    expect(() => {
      checkGroup(steps);
    }).not.toThrow();
  });

  it.each<[what: string, steps: readonly Step[]]>([
    ['two results', [step('result', 4), step('result', 5)]],
    ['a part of a group', [step('plan', 4, 3), step('plan', 5, 3)]],
    ['one plan of a group', [step('plan', 4, 2)]],
    ['a group out of order', [step('plan', 5, 2), step('plan', 4, 2)]],
    ['a group with a gap', [step('plan', 4, 2), step('plan', 6, 2)]],
    ['a step twice', [step('plan', 4, 2), step('plan', 4, 2)]],
    ['a plan and a result', [step('plan', 4, 2), step('result', 5, 2)]],
  ])('may not be %s', (_, steps) => {
    expect(() => {
      checkGroup(steps);
    }).toThrow(refused);
  });
});

describe('the place of a step', () => {
  const after = (steps: Parameters<typeof checkPlace>[0]['steps']) => ({ steps });

  it.each<[Parameters<typeof after>[0], Step]>([
    [{}, step('result', 1)],
    [{ result: '1-7' }, step('result', 8)],
    [{ result: '1' }, step('plan', 2, 2)],
    [{ result: '1' }, step('plan', 3, 2)],
    [{ result: '1', plan: '2-3' }, step('result', 3, 2)],
    [{ result: '1,3', plan: '2' }, step('result', 2, 2)],
  ])('after %j may be that of %j', (steps, one) => {
    expect(() => {
      checkPlace(after(steps), one);
    }).not.toThrow();
  });

  it.each<[Parameters<typeof after>[0], Step]>([
    [{}, step('result', 2)],
    [{ result: '1-7' }, step('result', 7)],
    [{ result: '1' }, step('plan', 4, 2)],
    [{ result: '1' }, step('plan', 1, 2)],
    [{ result: '1' }, step('result', 2, 2)],
  ])('after %j is not that of %j', (steps, one) => {
    expect(() => {
      checkPlace(after(steps), one);
    }).toThrow(refused);
  });
});

describe('the capacity of a run', () => {
  const mebibyte = 1_024 * 1_024;
  const checkAdded = (bodyBytes: number, entries: number, added: readonly number[]) => () => {
    checkCapacity(
      { bodyBytes, entries },
      added.map((bytes) => ({ bodyBytes: bytes })),
    );
  };

  it('ends at 32 MiB of bodies', () => {
    expect(checkAdded(31 * mebibyte, 1, [mebibyte])).not.toThrow();
    expect(checkAdded(31 * mebibyte, 1, [mebibyte, 1])).toThrow(refused);
  });

  it('ends at 10,000 entries', () => {
    expect(checkAdded(0, 9_999, [1])).not.toThrow();
    expect(checkAdded(0, 9_999, [1, 1])).toThrow(refused);
  });
});
