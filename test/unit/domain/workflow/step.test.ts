import { describe, expect, it } from 'vitest';
import { onceKey, parseStep } from '../../../../lambdas/domain/workflow/step.ts';

const named = { stepName: 'one', stepType: 'Run', concurrent: 1 };
const parse = (step: unknown) => parseStep(Buffer.from(JSON.stringify(step)));

describe('a step', () => {
  it.each([1, null, true, ['a'], { a: { b: 1 } }])('has the result %j of an older client, as JSON', (out) => {
    expect(parse({ ...named, stepId: 2, out })).toEqual({
      kind: 'result',
      ...named,
      stepId: 2,
      out: JSON.stringify(out),
    });
  });

  it('is a result when it has an id of its own', () => {
    const step = { ...named, stepId: 2, out: '"done"', more: 'of a newer client' };
    expect(parse(step)).toEqual({ kind: 'result', ...named, stepId: 2, out: '"done"' });
    expect(parse({ ...named, stepId: 2, targetStep: 0 })).toMatchObject({ kind: 'result', stepId: 2 });
  });

  it('is a plan when it names the step that it announces', () => {
    const plan = { ...named, stepId: 0, targetStep: 3, concurrent: 2, stepType: 'SleepFor', sleepFor: '10m' };
    expect(parse(plan)).toEqual({
      kind: 'plan',
      stepId: 3,
      stepName: 'one',
      stepType: 'SleepFor',
      concurrent: 2,
      sleepFor: '10m',
    });
  });

  it('sleeps until a moment that may have a fraction', () => {
    const sleep = { ...named, stepType: 'SleepUntil', stepId: 1, sleepUntil: 1_790_000_000.25 };
    expect(parse(sleep)).toMatchObject({ sleepUntil: 1_790_000_000.25 });
  });

  it.each([
    ['no JSON', undefined, 'The step is not JSON'],
    ['no object', [], 'The step'],
    ['neither id nor target', { ...named, stepId: 0 }, 'neither a stepId nor a targetStep'],
    ['both', { ...named, stepId: 1, targetStep: 2 }, 'both stepId 1 and targetStep 2'],
    ['a fraction for an id', { ...named, stepId: 1.5 }, 'stepId'],
    ['no name', { ...named, stepName: '', stepId: 1 }, 'stepName'],
    ['an unknown type', { ...named, stepType: 'Fly', stepId: 1 }, 'stepType'],
    ['the initial one', { ...named, stepType: 'Initial', stepId: 1 }, 'stepType'],
    ['no branches', { ...named, concurrent: 0, stepId: 1 }, 'concurrent'],
    // The client throws at these when it reads the list.
  ])('is refused with 412, so that its run fails visibly: %s', (_name, step, text) => {
    const body = step === undefined ? Buffer.from('{') : Buffer.from(JSON.stringify(step));
    expect(() => parseStep(body)).toThrow(expect.objectContaining({ status: 412 }));
    expect(() => parseStep(body)).toThrow(text);
  });
});

it('a run records once what has one key, and the plan, the call and the result of a step beside each other', () => {
  const keys = (['plan', 'call', 'wait', 'invoke', 'result'] as const).map((kind) =>
    onceKey(kind, { stepId: 2 }),
  );
  expect(new Set(keys).size).toBe(5);
  expect(onceKey('result', { stepId: 3 })).not.toBe(onceKey('result', { stepId: 2 }));
});
