import { describe, expect, it } from 'vitest';
import { canonicalize } from '../../../../lambdas/request/dialect.ts';
import { scoped } from '../../../../lambdas/shared/config.ts';
import type { Header } from '../../../../lambdas/shared/headers.ts';
import { ordinaryConfig } from '../../../../lambdas/workflow/steps/ordinaryConfig.ts';
import {
  readWorkflowMessage,
  type WorkflowMessage,
} from '../../../../lambdas/workflow/rules/workflowMessage.ts';

const prefixes = ['Svc', 'Upstash'];

const requestOf = (headers: Readonly<Record<string, string>>) =>
  canonicalize(
    Object.entries(headers).map(([name, value]): Header => [name.toLowerCase(), value]),
    [],
    prefixes,
  );

const read = (headers: Readonly<Record<string, string>>): WorkflowMessage | undefined =>
  readWorkflowMessage(requestOf(headers), prefixes);

const start = { 'Upstash-Workflow-Init': 'true', 'Upstash-Workflow-RunId': 'wfr_1' };
const part = { 'Upstash-Workflow-Init': 'false', 'Upstash-Workflow-RunId': 'wfr_1' };
const callback = 'Upstash-Callback-Forward-Upstash-Workflow-';
const call = {
  ...part,
  'Upstash-Workflow-CallType': 'toCallback',
  'Upstash-Callback': 'https://endpoint.example/',
  'Upstash-Callback-Workflow-Init': 'false',
  'Upstash-Callback-Workflow-RunId': 'wfr_1',
  'Upstash-Callback-Workflow-CallType': 'fromCallback',
  [`${callback}Callback`]: 'true',
  [`${callback}StepId`]: '3',
  [`${callback}StepName`]: 'ask',
  [`${callback}StepType`]: 'Call',
  [`${callback}Concurrent`]: '2',
  [`${callback}ContentType`]: 'application/json',
};

describe('a message', () => {
  it('without a workflow mark is an ordinary one, even if it names a run', () => {
    expect(read({ 'Upstash-Workflow-RunId': 'wfr_1', 'Upstash-Delay': '1s' })).toBeUndefined();
  });

  it('starts a run, whose id is used unchanged or chosen by the service', () => {
    const features = { 'Upstash-Feature-Set': 'LazyFetch, WF_DetectTrigger,WF_Later' };
    expect(read({ ...start, ...features, 'Upstash-Workflow-Sdk-Version': '1' })).toEqual({
      kind: 'start',
      runId: 'wfr_1',
      sdkVersion: '1',
      isUpgrade: false,
      isUnknownClient: false,
      url: undefined,
      features: new Set(['LazyFetch', 'WF_DetectTrigger']),
      invokeDepth: 0,
    });
    expect(read({ 'Svc-Workflow-Init': 'TRUE' })).toMatchObject({ kind: 'start', runId: undefined });
    expect(read({ ...start, 'Upstash-Workflow-RunId': 'wfr-own_id' })).toMatchObject({
      runId: 'wfr-own_id',
    });
  });

  it('upgrades a run, or invokes one', () => {
    expect(read({ ...start, 'Upstash-Workflow-Trigger-By-Sdk': 'true' })).toMatchObject({ isUpgrade: true });
    expect(
      read({
        ...start,
        'Upstash-Workflow-Invoke': 'true',
        'Upstash-Forward-Upstash-Workflow-Invoke-Count': '100',
      }),
    ).toMatchObject({ kind: 'invoke', invokeDepth: 100 });
  });

  it('adds to a run', () => {
    expect(read({ ...part, 'Upstash-Workflow-CreatedAt': '1790000000000' })).toMatchObject({
      kind: 'submission',
      runId: 'wfr_1',
      createdAt: 1_790_000_000_000,
    });
    expect(read({ ...part, 'Upstash-Workflow-CallType': 'step' })).toMatchObject({ kind: 'submission' });
  });

  it('calls a third party for a step, with a callback that is the call’s result', () => {
    expect(read(call)).toMatchObject({
      kind: 'call',
      step: { stepId: 3, stepName: 'ask', stepType: 'Call', concurrent: 2 },
    });
    const longest = { [`${callback}StepName`]: 'x'.repeat(1_024), [`${callback}StepId`]: '10000' };
    expect(read({ ...call, ...longest })).toMatchObject({
      step: { stepId: 10_000, stepName: 'x'.repeat(1_024) },
    });
    const { config, prefix } = requestOf(call);
    const inner = { prefix, config: scoped(config, 'callback') };
    expect(readWorkflowMessage(inner, prefixes)).toMatchObject({ kind: 'callResult', runId: 'wfr_1' });
  });

  it('has a failure callback, which is its run’s failure request', () => {
    const { config, prefix } = requestOf({
      ...start,
      'Upstash-Failure-Callback': 'https://endpoint.example/',
      'Upstash-Failure-Callback-Workflow-Runid': 'wfr_1',
      'Upstash-Failure-Callback-Workflow-Init': 'false',
      'Upstash-Failure-Callback-Workflow-Calltype': 'failureCall',
    });
    const inner = { prefix, config: scoped(config, 'failure-callback') };
    expect(readWorkflowMessage(inner, prefixes)).toMatchObject({ kind: 'failureRequest', runId: 'wfr_1' });
  });
});

describe('a header of a message', () => {
  const twice = (name: string, ...values: readonly string[]) =>
    readWorkflowMessage(
      canonicalize(
        [
          ...Object.entries(start).map(([one, value]): Header => [one.toLowerCase(), value]),
          ...values.map((value): Header => [name, value]),
        ],
        [],
        prefixes,
      ),
      prefixes,
    );

  it('may be given twice with the same value, but not with two values', () => {
    expect(twice('upstash-workflow-sdk-version', '1', '1')).toMatchObject({ sdkVersion: '1' });
    expect(() => twice('upstash-workflow-sdk-version', '1', '2', '1')).toThrow(
      'Upstash-Workflow-Sdk-Version is given 3 times; allowed is once.',
    );
  });

  it('is trimmed', () => {
    expect(read({ ...start, 'Upstash-Workflow-Url': ' https://flow.example/ ' })).toMatchObject({
      url: 'https://flow.example/',
    });
  });
});

describe('a malformed message', () => {
  it.each([
    ['a mark that is neither', { 'Upstash-Workflow-Init': 'yes' }, 'Upstash-Workflow-Init is "yes"'],
    ['a run id with a slash', { ...start, 'Upstash-Workflow-RunId': 'wfr/1' }, 'Upstash-Workflow-Runid'],
    ['a run id that is too long', { ...start, 'Upstash-Workflow-RunId': 'a'.repeat(257) }, '1 to 256'],
    [
      'a start that calls',
      { ...start, 'Upstash-Workflow-CallType': 'toCallback' },
      'Upstash-Workflow-Calltype is toCallback; a start of a run',
    ],
    [
      'an upgrade of nothing',
      { 'Upstash-Workflow-Init': 'true', 'Upstash-Workflow-Trigger-By-Sdk': 'true' },
      'Upstash-Workflow-Trigger-By-Sdk is true, but Upstash-Workflow-Runid is missing',
    ],
    [
      'a part of no run',
      { 'Upstash-Workflow-Init': 'false' },
      'Upstash-Workflow-Runid is missing; with Upstash-Workflow-Init: false',
    ],
  ])('that does not submit to a run is refused with 400: %s', (_name, headers, text) => {
    expect(() => read(headers)).toThrow(expect.objectContaining({ status: 400 }));
    expect(() => read(headers)).toThrow(text);
  });

  it.each([
    ['a run id', { ...part, 'Upstash-Workflow-RunId': 'a b' }, 'Upstash-Workflow-Runid'],
    ['an unknown role', { ...part, 'Upstash-Workflow-CallType': 'stepConfig' }, 'Upstash-Workflow-Calltype'],
    ['an invoke', { ...part, 'Upstash-Workflow-Invoke': 'true' }, 'for a start of a run'],
    ['an upgrade', { ...part, 'Upstash-Workflow-Trigger-By-Sdk': 'true' }, 'for a start of a run'],
    ['a moment', { ...part, 'Upstash-Workflow-CreatedAt': 'today' }, 'Upstash-Workflow-Createdat is "today"'],
    ['a call without a callback', { ...call, 'Upstash-Callback': undefined }, 'Upstash-Callback is missing'],
    ['a call without its step', { ...call, [`${callback}StepId`]: undefined }, 'Workflow-Stepid is missing'],
    ['a call with an empty name', { ...call, [`${callback}StepName`]: '' }, 'Workflow-Stepname is missing'],
    ['a call of an unknown type', { ...call, [`${callback}StepType`]: 'Ask' }, 'allowed are Initial, Run, '],
    [
      'a call with a long name',
      { ...call, [`${callback}StepName`]: 'x'.repeat(1_025) },
      'allowed are 1 to 1024',
    ],
    [
      'a call of a step beyond all entries',
      { ...call, [`${callback}StepId`]: '10001' },
      'a whole number from 1 to 10000',
    ],
    [
      'a call with too many branches',
      { ...call, [`${callback}Concurrent`]: '999999999999999' },
      'a whole number from 1 to 10000',
    ],
  ])(
    'to a run is refused with 412, because 400 would say that the run has ended: %s',
    (_name, headers, text) => {
      const given = Object.fromEntries(
        Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      );
      expect(() => read(given)).toThrow(expect.objectContaining({ status: 412 }));
      expect(() => read(given)).toThrow(text);
    },
  );

  it('that nests invokes too deep is refused with 412', () => {
    const depth = { 'Upstash-Forward-Upstash-Workflow-Invoke-Count': '101' };
    expect(() => read({ ...start, ...depth })).toThrow(
      expect.objectContaining({
        status: 412,
        message:
          'Upstash-Forward-Upstash-Workflow-Invoke-Count is 101: runs may invoke one another 100 deep.',
      }),
    );
  });
});

describe('the ordinary part of a workflow’s configuration', () => {
  it('has nothing that only workflows know, and no header for which an ordinary message is refused', () => {
    const { config } = requestOf({
      ...start,
      'Upstash-Feature-Set': 'LazyFetch',
      'Upstash-Telemetry-Sdk': 'x',
      'Upstash-Failure-Callback': 'https://endpoint.example/',
      'Upstash-Failure-Callback-Workflow-Init': 'false',
      'Upstash-Failure-Callback-Forward-Host': 'x',
      'Upstash-Failure-Callback-Forward-Upstash-Workflow-Is-Failure': 'true',
      'Upstash-Forward-Host': 'x',
      'Upstash-Forward-Content-Length': '3',
      'Upstash-Forward-Upstash-Retried': '1',
      'Upstash-Forward-Upstash-Label': 'a',
      'Upstash-Forward-X-Tenant': 'acme',
    });
    expect([...ordinaryConfig(config, false, prefixes).keys()].toSorted()).toEqual([
      'failure-callback',
      'failure-callback-forward-upstash-workflow-is-failure',
      'forward-upstash-label',
      'forward-x-tenant',
    ]);
  });

  it('keeps what the user set for a call, including the service’s headers', () => {
    const { config } = requestOf({
      'Upstash-Forward-Upstash-Delay': '1s',
      'Upstash-Forward-Content-Type': 'text/plain',
      'Upstash-Forward-Upstash-Workflow-Sdk-Version': '1',
      'Upstash-Forward-Connection': 'close',
      'Upstash-Callback-Forward-Upstash-Delay': '1s',
    });
    expect([...ordinaryConfig(config, true, prefixes).keys()].toSorted()).toEqual([
      'forward-content-type',
      'forward-upstash-delay',
    ]);
  });

  it('has durations in the format of an ordinary message', () => {
    const { config } = requestOf({
      'Upstash-Delay': '1w',
      'Upstash-Timeout': '30',
      'Upstash-Failure-Callback-Delay': '1.5m',
      'Upstash-Callback-Timeout': 'soon',
    });
    expect(Object.fromEntries(ordinaryConfig(config, false, prefixes))).toEqual({
      delay: ['604800s'],
      timeout: ['30s'],
      'failure-callback-delay': ['90s'],
      'callback-timeout': ['soon'],
    });
  });
});
