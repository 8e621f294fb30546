import { describe, expect, it } from 'vitest';
import {
  awaitedBy,
  doingOf,
  pausesOf,
  stateOfStep,
  timelineOf,
  type Run,
  type Step,
} from '../../../console/src/screens/runs/timeline.ts';

type Group = Run['steps'][number];
type RunStep = Extract<Group, { type: 'sequential' }>['steps'][number];

const step = (stepId: number, createdAt: number, more: Partial<RunStep> = {}): RunStep => ({
  stepId,
  stepName: `step ${stepId}`,
  stepType: 'Run',
  callType: 'step',
  concurrent: 1,
  messageId: 'msg_01M7W4BM2WG14BG3V1YN3YTREK',
  retries: 3,
  state: 'STEP_SUCCESS',
  createdAt,
  headers: {},
  ...more,
});
const alone = (one: RunStep): Group => ({ type: 'sequential', steps: [one] });
const { stepId: _none, ...initial } = step(0, 1_000, { stepType: 'Initial', stepName: 'init' });

const runOf = (groups: readonly Group[], completedAt?: number): Run => ({
  workflowRunId: 'wfr_1',
  workflowUrl: 'https://example.com/flow',
  workflowState: completedAt === undefined ? 'RUN_STARTED' : 'RUN_SUCCESS',
  workflowRunCreatedAt: 1_000,
  workflowRunCompletedAt: completedAt,
  steps: [alone(initial), ...groups],
});

/** Returns the start and the end of the steps in each group. */
const timesOf = (run: Run, now = 10_000) =>
  timelineOf(run, now).map((bars) => bars.map(({ from, until }) => [from, until]));

describe('A step', () => {
  it('begins at the end of the one before, and ends when its result was recorded', () => {
    expect(timesOf(runOf([alone(step(1, 1_500)), alone(step(2, 4_000))], 4_100))).toEqual([
      [[1_000, 1_500]],
      [[1_500, 4_000]],
    ]);
  });

  it('of a parallel group begins with the group, and the next step with the last branch', () => {
    const branches = [
      step(2, 3_000),
      step(3, 2_000, { stepType: 'SleepFor', sleepFor: 400 }),
      step(4, 2_500),
    ];
    const run = runOf([alone(step(1, 1_500)), { type: 'parallel', steps: branches }, alone(step(5, 3_200))]);
    expect(timesOf(run)).toEqual([
      [[1_000, 1_500]],
      [
        [1_500, 3_000],
        // Its result is recorded at its end.
        [1_500, 2_000],
        [1_500, 2_500],
      ],
      [[3_000, 3_200]],
    ]);
  });

  it('that sleeps alone is recorded at its start, and ends at its time', () => {
    const sleeps = [
      alone(step(1, 1_100, { stepType: 'SleepFor', sleepFor: 2_000 })),
      alone(step(2, 3_200, { stepType: 'SleepUntil', sleepUntil: 5_000 })),
      alone(step(3, 5_100)),
    ];
    expect(timesOf(runOf(sleeps))).toEqual([[[1_000, 3_100]], [[3_100, 5_000]], [[5_000, 5_100]]]);
  });

  it('that is active lasts until now, and an interrupted one until the end of its run', () => {
    const wait = alone(step(1, 1_100, { stepType: 'Wait', state: 'STEP_PROGRESS' }));
    expect(timesOf(runOf([wait]), 7_000)).toEqual([[[1_000, 7_000]]]);
    expect(timesOf(runOf([wait], 6_000), 7_000)).toEqual([[[1_000, 6_000]]]);
    const sleep = alone(step(1, 1_100, { stepType: 'SleepFor', sleepFor: 90_000 }));
    expect(timesOf(runOf([sleep], 6_000), 7_000)).toEqual([[[1_000, 6_000]]]);
  });

  it('in the future has a place, and a name in the address', () => {
    const next: Step = { messageId: 'msg_01M7W4BM2WG14BG3V1YN3YTREK', retries: 3, state: 'STEP_RETRY' };
    const run = runOf([alone(step(1, 1_500)), { type: 'next', steps: [next] }]);
    expect(timelineOf(run, 9_000).at(-1)).toEqual([{ key: 'next', step: next, from: 1_500, until: 9_000 }]);
  });

  it('with another clock never ends before it begins', () => {
    // Copied steps are older than the resumed run.
    expect(timesOf(runOf([alone(step(1, 500)), alone(step(2, 1_800))]), 900)).toEqual([
      [[1_000, 1_000]],
      [[1_000, 1_000]],
    ]);
  });
});

const failureAt = (time: number) => ({ time, error: '500', status: 500, body: '', headers: {} });

describe('A step that is retried', () => {
  it('has a pause from each failure to the next attempt, or to its end', () => {
    const retried = step(1, 4_000, { errors: [failureAt(1_500), failureAt(2_500)] });
    const [[bar] = []] = timelineOf(runOf([alone(retried)], 5_000), 5_000);
    expect(bar && pausesOf(bar)).toEqual([
      { from: 1_500, until: 2_500 },
      { from: 2_500, until: 4_000 },
    ]);
  });
});

describe('An active run', () => {
  const next = (more: Partial<Step>): Group => ({
    type: 'next',
    steps: [{ messageId: 'msg_01M7W4BM2WG14BG3V1YN3YTREK', retries: 3, state: 'STEP_PROGRESS', ...more }],
  });
  const open = (stepType: RunStep['stepType'], more: Partial<RunStep> = {}): Group =>
    alone(step(1, 1_500, { stepType, state: 'STEP_PROGRESS', ...more }));

  it.each<[string, readonly Group[]]>([
    ['retrying', [next({ state: 'STEP_RETRY', nextDeliveryTime: 9_000 })]],
    ['sleeping', [open('SleepFor', { sleepFor: 60_000 }), next({ nextDeliveryTime: 61_500 })]],
    ['running', [open('Call')]],
  ])('is told to be %s', (words, groups) => {
    expect(doingOf(runOf(groups), 10_000)).toBe(words);
  });

  it('is shown as hanging if nothing is pending, regardless of its steps', () => {
    expect(doingOf({ ...runOf([next({})]), hanging: { since: 5_000 } }, 10_000)).toBe('hanging');
  });

  it('is not shown as hanging once it has ended', () => {
    expect(doingOf(runOf([alone(step(1, 1_500))], 2_000), 10_000)).toBeUndefined();
  });
});

describe('A step in its row', () => {
  it.each<[string, Partial<RunStep>, ReturnType<typeof stateOfStep>]>([
    ['a success', {}, { state: 'STEP_SUCCESS' }],
    ['kept', { kept: true }, { state: 'KEPT', name: 'kept' }],
    ['waiting', { stepType: 'Wait', state: 'STEP_PROGRESS' }, { state: 'STEP_PROGRESS', name: 'waiting' }],
    ['a call without an answer', { callResponseStatus: 0 }, { state: 'FAILED', name: 'no answer' }],
  ])('is shown as %s', (_as, more, shown) => {
    expect(stateOfStep(step(1, 1_500, more))).toEqual(shown);
  });

  const goesOn = { state: 'STEP_PROGRESS' } as const;
  it.each<[Partial<RunStep>, ReturnType<typeof awaitedBy>]>([
    [
      { state: 'STEP_RETRY', nextDeliveryTime: 9_000 },
      { what: 'the next attempt', until: 9_000 },
    ],
    [
      { ...goesOn, stepType: 'SleepFor', sleepFor: 500 },
      { what: 'the end of its sleep', until: 2_000 },
    ],
    [
      { ...goesOn, stepType: 'Wait', waitEventId: 'paid', waitTimeoutDeadline: 8_000 },
      { what: 'the event paid', until: 8_000 },
    ],
    [{ ...goesOn }, undefined],
  ])('with %j tells what it waits for', (more, awaited) => {
    expect(awaitedBy(step(1, 1_500, more))).toEqual(awaited);
  });
});
