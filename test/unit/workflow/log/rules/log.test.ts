import { describe, expect, it } from 'vitest';
import { stepGroups } from '../../../../../lambdas/workflow/log/rules/groups.ts';
import type {
  FailedAttempt,
  History,
  RunMessage,
  ShownStep,
} from '../../../../../lambdas/workflow/log/rules/runMessage.ts';
import type { RunState } from '../../../../../lambdas/wire/states.ts';

const now = 1_790_000_000_000;

const message = (
  kind: RunMessage['kind'],
  stepId: number | undefined,
  history: Partial<History>,
  step: Partial<ShownStep> = {},
  details?: Partial<ShownStep>,
): RunMessage => ({
  kind,
  failures: [],
  ...history,
  step: {
    stepId,
    stepName: `step ${stepId}`,
    stepType: 'Run',
    concurrent: 1,
    callType: 'step',
    state: kind === 'initial' || kind === 'result' ? 'STEP_SUCCESS' : 'STEP_PROGRESS',
    messageId: stepId === undefined ? 'init' : `${kind} ${stepId}`,
    createdAt: now,
    headers: { 'X-Tenant': ['acme'] },
    retries: 3,
    ...step,
  },
  details,
});

const done = { end: 'DELIVERED' } as const;
const initial = (history: Partial<History> = {}) => message('initial', undefined, history);
const result = (stepId: number, history: Partial<History> = {}, step: Partial<ShownStep> = {}) =>
  message('result', stepId, history, { out: '"out"', ...step });
const plan = (stepId: number, history: Partial<History> = {}) =>
  message('plan', stepId, history, { concurrent: 2 });
const call = (stepId: number, more: Partial<RunMessage> = {}, concurrent = 1) => ({
  ...message(
    'call',
    stepId,
    {},
    {
      stepType: 'Call',
      callType: more.callback === undefined ? 'toCallback' : 'fromCallback',
      concurrent,
    },
  ),
  ...more,
});
const failed = (error: string): FailedAttempt => ({
  status: 500,
  error,
  headers: { 'Upstash-Error-Step-Name': ['charge'] },
  body: 'no',
  time: now,
});
const groupsOf = (state: RunState, messages: readonly RunMessage[]) =>
  stepGroups(state, messages, undefined, 'Upstash-Error-Step-Name', now);

/** Shows a step by the fields that matter, a parallel group as `[plan 1 PROGRESS, plan 2 PROGRESS]`, and the next step. */
const outline = (state: RunState, ...messages: readonly RunMessage[]): string =>
  groupsOf(state, messages)
    .map((group) => {
      if (group.type === 'next') return `next ${group.steps[0]?.messageId} ${group.steps[0]?.state}`;
      const steps = group.steps.map(({ state, callType, messageId }) =>
        callType === 'step' ? `${messageId} ${state}` : `${messageId} ${state} ${callType}`,
      );
      expect(steps.length).toBe(group.type === 'sequential' ? 1 : group.steps[0]?.concurrent);
      return group.type === 'sequential' ? steps.join() : `[${steps.join(', ')}]`;
    })
    .join('; ')
    .replaceAll('STEP_', '');

describe('the log of a run', () => {
  it('has each sequential step, and the next one', () => {
    expect(outline('RUN_STARTED', initial(done), result(1, done), result(2))).toBe(
      'init SUCCESS; result 1 SUCCESS; result 2 SUCCESS; next result 2 PROGRESS',
    );
  });

  it.each([
    ['RUN_SUCCESS', {}, []],
    ['RUN_SUCCESS', done, []],
    ['RUN_STARTED', done, []],
    ['RUN_STARTED', { failures: [failed('a')] }, ['next init RETRY']],
    ['RUN_FAILED', { failures: [failed('a')], end: 'FAILED' }, ['next init FAILED']],
    ['RUN_CANCELED', {}, ['next init CANCELED']],
    ['RUN_CANCELED', { failures: [failed('a')] }, ['next init CANCELED']],
  ] as const)('in the state %s, its delivery being %j, continues with %j', (state, history, next) => {
    expect(outline(state, initial(history))).toBe(['init SUCCESS', ...next].join('; '));
  });

  it('keeps a step successful if the next one failed', () => {
    const broken = result(1, { failures: [failed('a')], end: 'FAILED' });
    expect(outline('RUN_FAILED', initial(done), broken)).toBe(
      'init SUCCESS; result 1 SUCCESS; next result 1 FAILED',
    );
    expect(groupsOf('RUN_FAILED', [initial(done), broken])[1]?.steps[0]?.errors).toBeUndefined();
  });

  it('shows failures and the step that threw, first as the next step and then as the recorded one', () => {
    const failures = [failed('one'), failed('two')];
    const start = initial({ failures, nextDeliveryAt: now + 5 });
    expect(groupsOf('RUN_STARTED', [start]).at(-1)).toEqual({
      type: 'next',
      steps: [
        {
          ...{ messageId: 'init', state: 'STEP_RETRY', retries: 3, stepName: 'charge' },
          ...{ nextDeliveryTime: now + 5, errors: failures },
        },
      ],
    });
    expect(groupsOf('RUN_STARTED', [start, result(1)])[1]).toMatchObject({
      steps: [{ stepId: 1, state: 'STEP_SUCCESS', errors: failures }],
    });
    const broken = initial({ failures: [failed('one')], end: 'FAILED', nextDeliveryAt: now });
    expect(groupsOf('RUN_FAILED', [broken]).at(-1)?.steps[0]).toMatchObject({
      state: 'STEP_FAILED',
      nextDeliveryTime: undefined,
    });
  });

  it('is empty before the run is recorded', () => {
    expect(groupsOf('RUN_STARTED', [])).toEqual([]);
  });
});

describe('a parallel group', () => {
  const begin = [initial(done), plan(1, done), plan(2)] as const;

  it('has one item for each branch, from its plan to its result', () => {
    expect(outline('RUN_STARTED', ...begin)).toBe('init SUCCESS; [plan 1 PROGRESS, plan 2 PROGRESS]');
    expect(outline('RUN_STARTED', ...begin, result(2, {}, { concurrent: 2 }))).toBe(
      'init SUCCESS; [plan 1 PROGRESS, result 2 SUCCESS]',
    );
    expect(groupsOf('RUN_STARTED', begin)[1]?.steps[0]).not.toHaveProperty('out');
  });

  it('is followed by the delivery of its last result', () => {
    const both = [result(2, done, { concurrent: 2 }), result(1, {}, { concurrent: 2 })];
    expect(outline('RUN_STARTED', ...begin, ...both)).toBe(
      'init SUCCESS; [result 1 SUCCESS, result 2 SUCCESS]; next result 1 PROGRESS',
    );
    expect(outline('RUN_STARTED', ...begin, ...both, result(3, {}))).toBe(
      'init SUCCESS; [result 1 SUCCESS, result 2 SUCCESS]; result 3 SUCCESS; next result 3 PROGRESS',
    );
  });

  it('has a branch’s failures in its item, and no next step', () => {
    const branch = plan(1, { failures: [failed('a')], end: 'FAILED' });
    expect(outline('RUN_FAILED', initial(done), branch, plan(2))).toBe(
      'init SUCCESS; [plan 1 FAILED, plan 2 CANCELED]',
    );
    expect(groupsOf('RUN_FAILED', [initial(done), branch, plan(2)])[1]?.steps[0]).toMatchObject({
      errors: [failed('a')],
    });
    const retried = plan(1, { failures: [failed('a')], nextDeliveryAt: now + 9 });
    expect(groupsOf('RUN_STARTED', [initial(done), retried, plan(2)])[1]?.steps[0]).toMatchObject({
      state: 'STEP_RETRY',
      nextDeliveryTime: now + 9,
    });
  });

  it('ignores a repetition, and can be followed by another group', () => {
    const first = [
      plan(1, done),
      plan(2, done),
      result(1, done, { concurrent: 2 }),
      result(2, done, { concurrent: 2 }),
    ];
    const again = result(1, {}, { concurrent: 2, out: '"again"' });
    expect(outline('RUN_STARTED', initial(done), ...first, again, plan(3), plan(4))).toBe(
      'init SUCCESS; [result 1 SUCCESS, result 2 SUCCESS]; [plan 3 PROGRESS, plan 4 PROGRESS]',
    );
    expect(groupsOf('RUN_STARTED', [initial(done), ...first, again])[1]?.steps[0]).toMatchObject({
      out: '"out"',
    });
  });

  it('fails at the branch whose result could not be delivered', () => {
    const broken = result(1, { failures: [failed('a')], end: 'FAILED' }, { concurrent: 2 });
    expect(outline('RUN_FAILED', ...begin, broken)).toBe('init SUCCESS; [result 1 FAILED, plan 2 CANCELED]');
    expect(groupsOf('RUN_FAILED', [...begin, broken])[1]?.steps[0]).toMatchObject({
      errors: [failed('a')],
    });
  });

  it('does not count failures of the planning delivery as a branch’s failures', () => {
    const start = initial({ ...done, failures: [failed('a')] });
    for (const messages of [
      [start, plan(1), plan(2)],
      [start, plan(1), plan(2), result(1, done, { concurrent: 2 })],
    ]) {
      const items = groupsOf('RUN_STARTED', messages)[1]?.steps ?? [];
      expect(items.map(({ errors }) => errors)).toEqual([undefined, undefined]);
    }
  });

  it('has the order of its steps, whichever was planned or ended first', () => {
    expect(outline('RUN_STARTED', initial(done), plan(2), plan(1))).toBe(
      'init SUCCESS; [plan 1 PROGRESS, plan 2 PROGRESS]',
    );
    const results = [result(2, done, { concurrent: 2 }), result(1, done, { concurrent: 2 })];
    expect(outline('RUN_STARTED', initial(done), ...results)).toContain(
      '[result 1 SUCCESS, result 2 SUCCESS]',
    );
  });

  it('leaves the failures of its last delivery to the step that this delivery brought', () => {
    const last = result(2, { failures: [failed('a')], end: 'DELIVERED' }, { concurrent: 2 });
    const messages = [...begin, result(1, done, { concurrent: 2 }), last, result(3)];
    const [, group, next] = groupsOf('RUN_STARTED', messages);
    expect(group?.steps.map(({ errors }) => errors)).toEqual([undefined, undefined]);
    expect(next?.steps[0]?.errors).toEqual([failed('a')]);
  });

  it('is in progress if a branch was delivered after a failure, and nothing is due', () => {
    const delivered = plan(1, { failures: [failed('a')], end: 'DELIVERED', nextDeliveryAt: now + 9 });
    const untried = plan(2, { nextDeliveryAt: now + 9 });
    const steps = groupsOf('RUN_STARTED', [initial(done), delivered, untried])[1]?.steps ?? [];
    expect(steps).toMatchObject([
      { state: 'STEP_PROGRESS', nextDeliveryTime: undefined },
      { state: 'STEP_PROGRESS', nextDeliveryTime: undefined },
    ]);
  });

  it('has calls, waits and invokes as branches', () => {
    const pending = call(1, {}, 2);
    expect(outline('RUN_STARTED', initial(done), plan(1, done), plan(2, done), pending)).toBe(
      'init SUCCESS; [call 1 PROGRESS toCallback, plan 2 PROGRESS]',
    );
  });
});

describe('a step in progress', () => {
  const withStep = (message: RunMessage, state: RunState = 'RUN_STARTED') =>
    outline(state, initial(done), message).replace('init SUCCESS; ', '');

  it('sleeps until its delivery is due, and then brings the next step', () => {
    const sleep = (history: Partial<History>) =>
      result(1, history, { stepType: 'SleepFor', sleepFor: 5_000 });
    expect(withStep(sleep({ nextDeliveryAt: now + 1 }))).toBe('result 1 PROGRESS');
    expect(withStep(sleep({ nextDeliveryAt: now }))).toBe('result 1 SUCCESS; next result 1 PROGRESS');
    expect(withStep(sleep({ nextDeliveryAt: now + 1 }), 'RUN_CANCELED')).toBe('result 1 CANCELED');
    // The run ended in the delivery after the sleep, which has no outcome yet.
    expect(withStep(sleep({ nextDeliveryAt: now }), 'RUN_SUCCESS')).toBe('result 1 SUCCESS');
    expect(
      groupsOf('RUN_STARTED', [initial(done), sleep({ nextDeliveryAt: now })])[1]?.steps[0],
    ).toMatchObject({
      sleepFor: 5_000,
    });
    expect(withStep(sleep(done))).toBe('result 1 SUCCESS');
    // The sleep was over when its delivery was tried.
    expect(withStep(sleep({ failures: [failed('a')], nextDeliveryAt: now + 1 }))).toBe(
      'result 1 SUCCESS; next result 1 RETRY',
    );
  });

  it('calls a third party, whose failure is not the step’s', () => {
    expect(withStep(call(1))).toBe('call 1 PROGRESS toCallback');
    expect(withStep(call(1, { failures: [failed('a')] }))).toBe('call 1 RETRY toCallback');
    expect(withStep(call(1, { failures: [failed('a')], end: 'FAILED' }))).toBe('call 1 PROGRESS toCallback');
    expect(withStep(call(1), 'RUN_CANCELED')).toBe('call 1 CANCELED toCallback');
  });

  it('shows each failure before the third party’s answer once', () => {
    const start = initial({ ...done, failures: [failed('before')] });
    const errorsOf = (message: RunMessage) => groupsOf('RUN_STARTED', [start, message])[1]?.steps[0]?.errors;
    const asked = { failures: [failed('asked')] };
    expect(errorsOf(call(1, asked))).toEqual([failed('before'), failed('asked')]);
    const callback = { messageId: 'callback', failures: [failed('answered')] };
    expect(errorsOf(call(1, { ...asked, end: 'DELIVERED', callback }))).toEqual([
      failed('before'),
      failed('asked'),
      failed('answered'),
    ]);
  });

  it('delivers a third party’s answer to the endpoint, which may fail with it', () => {
    const answered = (history: Partial<History>) =>
      call(1, { ...done, callback: { messageId: 'callback', failures: [], ...history } });
    expect(withStep(answered({}))).toBe('call 1 PROGRESS fromCallback');
    const broken = answered({ failures: [failed('a')], end: 'FAILED' });
    expect(withStep(broken, 'RUN_FAILED')).toBe('call 1 FAILED fromCallback');
    expect(withStep(answered({}), 'RUN_CANCELED')).toBe('call 1 CANCELED fromCallback');
  });

  it('waits for an event, and shows its deadline', () => {
    const details = { waitEventId: 'ready', waitTimeoutDuration: '1.5m', waitTimeoutDeadline: now + 90_000 };
    const wait = message('wait', 1, {}, { stepType: 'Wait' }, details);
    expect(withStep(wait)).toBe('wait 1 PROGRESS');
    expect(withStep(wait, 'RUN_CANCELED')).toBe('wait 1 CANCELED');
    const shownWith = (more: Partial<ShownStep>, ...before: readonly RunMessage[]) =>
      groupsOf('RUN_STARTED', [initial(done), ...before, { ...result(1), details: more }])[1]?.steps[0];
    expect(shownWith({ waitTimeout: true }, wait)).toMatchObject({
      ...details,
      waitTimeout: true,
      state: 'STEP_SUCCESS',
    });
    // The event was sent before the wait.
    expect(shownWith({ waitEventId: 'ready' })).toMatchObject({ waitEventId: 'ready' });
  });
});
