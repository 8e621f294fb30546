import { describe, expect, it } from 'vitest';
import type { FailedAttempt } from '../../../../../lambdas/workflow/log/rules/errors.ts';
import { stepGroups } from '../../../../../lambdas/workflow/log/rules/groups.ts';
import type {
  CallRecord,
  History,
  InitialRecord,
  InvokeRecord,
  PlanRecord,
  ResultRecord,
  RunMessage,
  WaitRecord,
} from '../../../../../lambdas/workflow/log/rules/runRecord.ts';
import type { RunState, StepType } from '../../../../../lambdas/wire/states.ts';

const now = 1_790_000_000_000;

const common = (messageId: string, history: Partial<History> = {}) => ({
  messageId,
  createdAt: now,
  maxRetries: 3,
  headers: [['x-tenant', 'acme']] as const,
  failures: [],
  ...history,
});
const named = (stepId: number, stepType: StepType, concurrent: number) => ({
  stepId,
  stepName: `step ${stepId}`,
  stepType,
  concurrent,
});

const done = { end: 'DELIVERED' } as const;
const initial = (history?: Partial<History>): InitialRecord => ({
  kind: 'initial',
  payload: '{"n":1}',
  ...common('init', history),
});
const result = (
  stepId: number,
  history?: Partial<History>,
  more: { type?: StepType; of?: number; out?: string; sleepFor?: number } = {},
): ResultRecord => ({
  kind: 'result',
  step: named(stepId, more.type ?? 'Run', more.of ?? 1),
  out: more.out ?? '"out"',
  sleepFor: more.sleepFor,
  ...common(`result ${stepId}`, history),
});
const plan = (stepId: number, history?: Partial<History>, of = 2): PlanRecord => ({
  kind: 'plan',
  step: named(stepId, 'Run', of),
  ...common(`plan ${stepId}`, history),
});
const call = (stepId: number, more: Partial<CallRecord> = {}, of = 1): CallRecord => ({
  kind: 'call',
  step: named(stepId, 'Call', of),
  url: 'https://third.example/',
  method: 'POST',
  body: 'asked',
  ...common(`call ${stepId}`),
  ...more,
});
const failed = (error: string): FailedAttempt => ({
  status: 500,
  error,
  headers: [['upstash-error-step-name', 'charge']],
  body: 'no',
  time: now,
});
const shownError = (error: string) => ({
  status: 500,
  error,
  headers: { 'Upstash-Error-Step-Name': ['charge'] },
  body: 'no',
  time: now,
});

const groupsOf = (state: RunState, messages: readonly RunMessage[]) =>
  stepGroups({ state, messages }, ({ failures }) => failures.at(-1)?.headers[0]?.[1], now);

/** Shows each group by its type, and its steps by the fields that matter. */
const outline = (state: RunState, ...messages: readonly RunMessage[]): readonly string[] =>
  groupsOf(state, messages).map((group) => {
    if (group.type === 'next') return `next ${group.steps[0].messageId} ${group.steps[0].state}`;
    const steps = group.steps.map(({ state, callType, messageId }) =>
      callType === 'step' ? `${messageId} ${state}` : `${messageId} ${state} ${callType}`,
    );
    expect(steps.length).toBe(group.type === 'sequential' ? 1 : group.steps[0]?.concurrent);
    return `${group.type} ${steps.join(', ')}`;
  });

describe('the log of a run', () => {
  it('begins with the initial payload and the next step', () => {
    expect(groupsOf('RUN_STARTED', [initial({ nextDeliveryAt: now + 5 })])).toEqual([
      {
        type: 'sequential',
        steps: [
          {
            stepName: 'init',
            stepType: 'Initial',
            callType: 'step',
            concurrent: 1,
            state: 'STEP_SUCCESS',
            out: '{"n":1}',
            messageId: 'init',
            createdAt: now,
            headers: { 'X-Tenant': ['acme'] },
            retries: 3,
          },
        ],
      },
      {
        type: 'next',
        steps: [{ messageId: 'init', state: 'STEP_PROGRESS', retries: 3, nextDeliveryTime: now + 5 }],
      },
    ]);
  });

  it('has each sequential step, and the next one', () => {
    expect(outline('RUN_STARTED', initial(done), result(1, done), result(2))).toEqual([
      'sequential init STEP_SUCCESS',
      'sequential result 1 STEP_SUCCESS',
      'sequential result 2 STEP_SUCCESS',
      'next result 2 STEP_PROGRESS',
    ]);
  });

  it.each([
    ['RUN_SUCCESS', {}, []],
    ['RUN_SUCCESS', done, []],
    ['RUN_STARTED', done, []],
    ['RUN_STARTED', { failures: [failed('a')] }, ['next init STEP_RETRY']],
    ['RUN_FAILED', { failures: [failed('a')], end: 'FAILED' }, ['next init STEP_FAILED']],
    ['RUN_CANCELED', {}, ['next init STEP_CANCELED']],
    ['RUN_CANCELED', { failures: [failed('a')] }, ['next init STEP_CANCELED']],
  ] as const)('in the state %s, its delivery being %j, continues with %j', (state, history, next) => {
    expect(outline(state, initial(history))).toEqual(['sequential init STEP_SUCCESS', ...next]);
  });

  it('keeps a step successful if the next one failed', () => {
    const broken = result(1, { failures: [failed('a')], end: 'FAILED' });
    expect(outline('RUN_FAILED', initial(done), broken)).toEqual([
      'sequential init STEP_SUCCESS',
      'sequential result 1 STEP_SUCCESS',
      'next result 1 STEP_FAILED',
    ]);
    expect(groupsOf('RUN_FAILED', [initial(done), broken])[1]?.steps[0].errors).toBeUndefined();
  });

  it('shows failures and the step that threw, first as the next step and then as the recorded one', () => {
    const start = initial({ failures: [failed('one'), failed('two')], nextDeliveryAt: now + 5 });
    expect(groupsOf('RUN_STARTED', [start]).at(-1)).toEqual({
      type: 'next',
      steps: [
        {
          messageId: 'init',
          state: 'STEP_RETRY',
          retries: 3,
          stepName: 'charge',
          nextDeliveryTime: now + 5,
          errors: [shownError('one'), shownError('two')],
        },
      ],
    });
    expect(groupsOf('RUN_STARTED', [start, result(1)])[1]).toMatchObject({
      steps: [{ stepId: 1, state: 'STEP_SUCCESS', errors: [shownError('one'), shownError('two')] }],
    });
  });

  it('says when the next delivery is due, if there is one', () => {
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
    expect(outline('RUN_STARTED', ...begin)).toEqual([
      'sequential init STEP_SUCCESS',
      'parallel plan 1 STEP_PROGRESS, plan 2 STEP_PROGRESS',
    ]);
    expect(outline('RUN_STARTED', ...begin, result(2, {}, { of: 2 }))).toEqual([
      'sequential init STEP_SUCCESS',
      'parallel plan 1 STEP_PROGRESS, result 2 STEP_SUCCESS',
    ]);
    expect(groupsOf('RUN_STARTED', begin)[1]?.steps[0]).not.toHaveProperty('out');
  });

  it('is followed by the delivery of its last result', () => {
    const both = [result(2, done, { of: 2 }), result(1, {}, { of: 2 })];
    expect(outline('RUN_STARTED', ...begin, ...both)).toEqual([
      'sequential init STEP_SUCCESS',
      'parallel result 1 STEP_SUCCESS, result 2 STEP_SUCCESS',
      'next result 1 STEP_PROGRESS',
    ]);
    expect(outline('RUN_STARTED', ...begin, ...both, result(3, {}))).toEqual([
      'sequential init STEP_SUCCESS',
      'parallel result 1 STEP_SUCCESS, result 2 STEP_SUCCESS',
      'sequential result 3 STEP_SUCCESS',
      'next result 3 STEP_PROGRESS',
    ]);
  });

  it('has a branch’s failures in its item, and no next step', () => {
    const branch = plan(1, { failures: [failed('a')], end: 'FAILED' });
    expect(outline('RUN_FAILED', initial(done), branch, plan(2))).toEqual([
      'sequential init STEP_SUCCESS',
      'parallel plan 1 STEP_FAILED, plan 2 STEP_CANCELED',
    ]);
    expect(groupsOf('RUN_FAILED', [initial(done), branch, plan(2)])[1]?.steps[0]).toMatchObject({
      errors: [shownError('a')],
    });
    const retried = plan(1, { failures: [failed('a')], nextDeliveryAt: now + 9 });
    expect(groupsOf('RUN_STARTED', [initial(done), retried, plan(2)])[1]?.steps[0]).toMatchObject({
      state: 'STEP_RETRY',
      nextDeliveryTime: now + 9,
    });
  });

  it('ignores a repetition, and can be followed by another group', () => {
    const first = [plan(1, done), plan(2, done), result(1, done, { of: 2 }), result(2, done, { of: 2 })];
    const again = result(1, {}, { of: 2, out: '"again"' });
    expect(outline('RUN_STARTED', initial(done), ...first, again, plan(3), plan(4))).toEqual([
      'sequential init STEP_SUCCESS',
      'parallel result 1 STEP_SUCCESS, result 2 STEP_SUCCESS',
      'parallel plan 3 STEP_PROGRESS, plan 4 STEP_PROGRESS',
    ]);
    expect(groupsOf('RUN_STARTED', [initial(done), ...first, again])[1]?.steps[0]).toMatchObject({
      out: '"out"',
    });
  });

  it('fails at the branch whose result could not be delivered', () => {
    const broken = result(1, { failures: [failed('a')], end: 'FAILED' }, { of: 2 });
    expect(outline('RUN_FAILED', ...begin, broken)).toEqual([
      'sequential init STEP_SUCCESS',
      'parallel result 1 STEP_FAILED, plan 2 STEP_CANCELED',
    ]);
    expect(groupsOf('RUN_FAILED', [...begin, broken])[1]?.steps[0]).toMatchObject({
      errors: [shownError('a')],
    });
  });

  it('does not count failures of the planning delivery as a branch’s failures', () => {
    const start = initial({ ...done, failures: [failed('a')] });
    for (const messages of [
      [start, plan(1), plan(2)],
      [start, plan(1), plan(2), result(1, done, { of: 2 })],
    ]) {
      const items = groupsOf('RUN_STARTED', messages)[1]?.steps ?? [];
      expect(items.map(({ errors }) => errors)).toEqual([undefined, undefined]);
    }
  });

  it('has the order of its steps, whichever was planned or ended first', () => {
    expect(outline('RUN_STARTED', initial(done), plan(2), plan(1))[1]).toBe(
      'parallel plan 1 STEP_PROGRESS, plan 2 STEP_PROGRESS',
    );
    const results = [result(2, done, { of: 2 }), result(1, done, { of: 2 })];
    expect(outline('RUN_STARTED', initial(done), ...results)[1]).toBe(
      'parallel result 1 STEP_SUCCESS, result 2 STEP_SUCCESS',
    );
  });

  it('leaves the failures of its last delivery to the step that this delivery brought', () => {
    const last = result(2, { failures: [failed('a')], end: 'DELIVERED' }, { of: 2 });
    const messages = [...begin, result(1, done, { of: 2 }), last, result(3)];
    const [, group, next] = groupsOf('RUN_STARTED', messages);
    expect(group?.steps.map(({ errors }) => errors)).toEqual([undefined, undefined]);
    expect(next?.steps[0].errors).toEqual([shownError('a')]);
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

  it('uses the first of two plans of a branch', () => {
    const again = { ...plan(1), messageId: 'again' };
    expect(outline('RUN_STARTED', ...begin, again)[1]).toBe(
      'parallel plan 1 STEP_PROGRESS, plan 2 STEP_PROGRESS',
    );
  });

  it('has calls, waits and invokes as branches', () => {
    const pending = call(1, {}, 2);
    expect(outline('RUN_STARTED', initial(done), plan(1, done), plan(2, done), pending)).toEqual([
      'sequential init STEP_SUCCESS',
      'parallel call 1 STEP_PROGRESS toCallback, plan 2 STEP_PROGRESS',
    ]);
  });
});

describe('a step in progress', () => {
  const withStep = (message: RunMessage, state: RunState = 'RUN_STARTED') =>
    outline(state, initial(done), message).slice(1);

  it('sleeps until its delivery is due, and then brings the next step', () => {
    const sleep = (history: Partial<History>) => result(1, history, { type: 'SleepFor', sleepFor: 5_000 });
    expect(withStep(sleep({ nextDeliveryAt: now + 1 }))).toEqual(['sequential result 1 STEP_PROGRESS']);
    expect(withStep(sleep({ nextDeliveryAt: now }))).toEqual([
      'sequential result 1 STEP_SUCCESS',
      'next result 1 STEP_PROGRESS',
    ]);
    expect(withStep(sleep({ nextDeliveryAt: now + 1 }), 'RUN_CANCELED')).toEqual([
      'sequential result 1 STEP_CANCELED',
    ]);
    // Its run ended within the delivery after the sleep, which has no outcome yet.
    expect(withStep(sleep({ nextDeliveryAt: now }), 'RUN_SUCCESS')).toEqual([
      'sequential result 1 STEP_SUCCESS',
    ]);
    expect(
      groupsOf('RUN_STARTED', [initial(done), sleep({ nextDeliveryAt: now })])[1]?.steps[0],
    ).toMatchObject({
      sleepFor: 5_000,
    });
    expect(withStep(sleep(done))).toEqual(['sequential result 1 STEP_SUCCESS']);
    // The sleep was over when its delivery was tried.
    expect(withStep(sleep({ failures: [failed('a')], nextDeliveryAt: now + 1 }))).toEqual([
      'sequential result 1 STEP_SUCCESS',
      'next result 1 STEP_RETRY',
    ]);
  });

  it('sleeps until a time in the same way', () => {
    expect(withStep(result(1, { nextDeliveryAt: now + 1 }, { type: 'SleepUntil' }))).toEqual([
      'sequential result 1 STEP_PROGRESS',
    ]);
  });

  it('calls a third party, whose failure is not the step’s', () => {
    expect(withStep(call(1))).toEqual(['sequential call 1 STEP_PROGRESS toCallback']);
    expect(withStep(call(1, { failures: [failed('a')] }))).toEqual([
      'sequential call 1 STEP_RETRY toCallback',
    ]);
    expect(withStep(call(1, { failures: [failed('a')], end: 'FAILED' }))).toEqual([
      'sequential call 1 STEP_PROGRESS toCallback',
    ]);
    expect(withStep(call(1), 'RUN_CANCELED')).toEqual(['sequential call 1 STEP_CANCELED toCallback']);
  });

  it('shows each failure before the third party’s answer once', () => {
    const start = initial({ ...done, failures: [failed('before')] });
    const errorsOf = (message: RunMessage) => groupsOf('RUN_STARTED', [start, message])[1]?.steps[0].errors;
    const asked = { failures: [failed('asked')] };
    expect(errorsOf(call(1, asked))).toEqual([shownError('before'), shownError('asked')]);
    const callback = { messageId: 'callback', failures: [failed('answered')] };
    expect(errorsOf(call(1, { ...asked, end: 'DELIVERED', callback }))).toEqual([
      shownError('before'),
      shownError('asked'),
      shownError('answered'),
    ]);
  });

  it('delivers a third party’s answer to the endpoint, which may fail with it', () => {
    const response = { status: 201, headers: [['etag', 'x']], body: 'answer' } as const;
    const answered = (history: Partial<History>) =>
      call(1, { end: 'DELIVERED', response, callback: { messageId: 'callback', failures: [], ...history } });
    expect(withStep(answered({}))).toEqual(['sequential call 1 STEP_PROGRESS fromCallback']);
    const broken = answered({ failures: [failed('a')], end: 'FAILED' });
    expect(withStep(broken, 'RUN_FAILED')).toEqual(['sequential call 1 STEP_FAILED fromCallback']);
    expect(withStep(answered({}), 'RUN_CANCELED')).toEqual(['sequential call 1 STEP_CANCELED fromCallback']);
    const details = {
      callUrl: 'https://third.example/',
      callMethod: 'POST',
      callBody: 'asked',
      callResponseStatus: 201,
      callResponseBody: 'answer',
      callResponseHeaders: { Etag: ['x'] },
    };
    expect(groupsOf('RUN_FAILED', [initial(done), broken])[1]?.steps[0]).toMatchObject({
      ...details,
      errors: [shownError('a')],
    });
    const messages = [initial(done), answered(done), result(1, {}, { type: 'Call' })];
    expect(groupsOf('RUN_STARTED', messages)[1]?.steps[0]).toMatchObject({
      ...details,
      callType: 'fromCallback',
      state: 'STEP_SUCCESS',
      out: '"out"',
    });
  });

  it('waits for an event, and shows its deadline', () => {
    const wait: WaitRecord = {
      kind: 'wait',
      step: named(1, 'Wait', 1),
      eventId: 'ready',
      timeout: '1.5m',
      deadline: now + 90_000,
      ...common('wait 1'),
    };
    expect(withStep(wait)).toEqual(['sequential wait 1 STEP_PROGRESS']);
    expect(withStep(wait, 'RUN_CANCELED')).toEqual(['sequential wait 1 STEP_CANCELED']);
    const details = { waitEventId: 'ready', waitTimeoutDuration: '1.5m', waitTimeoutDeadline: now + 90_000 };
    expect(groupsOf('RUN_STARTED', [initial(done), wait])[1]?.steps[0]).toMatchObject(details);
    const late: ResultRecord = { ...result(1, {}, { type: 'Wait' }), waitTimeout: true };
    expect(groupsOf('RUN_STARTED', [initial(done), wait, late])[1]?.steps[0]).toMatchObject({
      ...details,
      waitTimeout: true,
      state: 'STEP_SUCCESS',
    });
    // The event was sent before the wait.
    const met: ResultRecord = { ...result(1, {}, { type: 'Wait' }), waitEventId: 'ready' };
    expect(groupsOf('RUN_STARTED', [initial(done), met])[1]?.steps[0]).toMatchObject({
      waitEventId: 'ready',
    });
  });

  it('invokes another run, whose result counts even if the invoking run has ended', () => {
    const invoke: InvokeRecord = {
      kind: 'invoke',
      step: named(1, 'Invoke', 1),
      runId: 'wfr_child',
      url: 'https://endpoint.example/child',
      startedAt: now,
      body: 'payload',
      ...common('invoke 1'),
    };
    expect(withStep(invoke)).toEqual(['sequential invoke 1 STEP_PROGRESS']);
    expect(groupsOf('RUN_STARTED', [initial(done), invoke])[1]?.steps[0]).toMatchObject({
      invokedWorkflowRunId: 'wfr_child',
      invokedWorkflowUrl: 'https://endpoint.example/child',
      invokedWorkflowCreatedAt: now,
      invokedWorkflowRunBody: 'payload',
      invokedWorkflowRunHeaders: { 'X-Tenant': ['acme'] },
    });
    const ended = outline('RUN_FAILED', initial(done), invoke, result(1, {}, { type: 'Invoke' }));
    expect(ended[1]).toBe('sequential result 1 STEP_SUCCESS');
  });
});
