import { describe, expect, it } from 'vitest';
import { waitRecord } from '../../../support/runActs.ts';
import { imported } from '../../../support/imported.ts';
import { fixture, runFixture, useRuns } from '../../../support/useRuns.ts';
import type { Header } from '../../../../lambdas/shared/headers.ts';
import { newMessageId, openRunLogs, outlineOf, stepsOf, type RunLogs } from '../../../support/runLogs.ts';
import { resultOf } from '../../../support/runFixture.ts';
import { callbackTo, endpoint } from '../../../support/startSettings.ts';

let logs: RunLogs;
useRuns(async () => {
  logs = await openRunLogs(fixture);
});
const lambdas = imported(async () => ({
  ...(await import('../../../../lambdas/message/consequenceIds.ts')),
  ...(await import('../../../../lambdas/message/history.ts')),
}));

const runOf = (runId: string, ...query: readonly Header[]) => logs.runOf(runId, ...query);
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('the log of a run', () => {
  it('has its steps, failed attempts and its end', async () => {
    const { messageId, createdAt } = await runFixture.start('wfr_whole', {
      payload: '{"n":1}',
      details: {
        url: 'https://user:secret@flow.example/orders',
        settings: {
          maxRetries: 2,
          retryDelay: '1000',
          labels: ['one', 'two'],
          timeoutMs: 30_000,
          flowControl: { key: 'flow' },
        },
        invoker: {
          runId: 'wfr_above',
          createdAt: 17,
          url: 'https://user:secret@flow.example/above',
          step: { stepId: 1, stepName: 'invoke', stepType: 'Invoke', concurrent: 1 },
          headers: [],
        },
      },
    });
    await runFixture.attempt(messageId, 'RETRY', {
      status: 503,
      headers: [['upstash-error-step-name', 'charge']],
      body: 'not now',
      recordedAt: createdAt + 1,
      nextDeliveryAt: createdAt + 1_001,
    });
    const retried = await runOf('wfr_whole');
    expect(asJson(retried.steps.at(-1))).toEqual({
      type: 'next',
      steps: [
        {
          messageId,
          state: 'STEP_RETRY',
          retries: 2,
          retryDelay: '1000',
          stepName: 'charge',
          nextDeliveryTime: createdAt + 1_001,
          errors: [
            {
              status: 503,
              error: '503 Service Unavailable',
              body: 'not now',
              headers: { 'Upstash-Error-Step-Name': ['charge'] },
              time: createdAt + 1,
            },
          ],
        },
      ],
    });

    const [step] = await runFixture.submit('wfr_whole', [resultOf(1, '"charged"')]);
    await runFixture.attempt(messageId, 'DELIVERED');
    await runFixture.attempt(step?.messageId ?? '', 'DELIVERED');
    await runFixture.end('wfr_whole', {
      state: 'RUN_SUCCESS',
      response: { at: 'here', bytes: Buffer.from('{"ok":true}'), deflated: false },
      responseId: newMessageId(),
    });
    const run = await runOf('wfr_whole');
    const headers = {
      'Upstash-Workflow-Sdk-Version': ['1'],
      'X-Tenant': ['acme'],
      'Content-Type': ['application/json'],
    };
    const common = { callType: 'step', concurrent: 1, state: 'STEP_SUCCESS', retries: 2, retryDelay: '1000' };
    const { workflowRunCompletedAt = 0, ...rest } = run;
    expect(workflowRunCompletedAt).toBeGreaterThanOrEqual(createdAt);
    expect(asJson(rest)).toEqual({
      workflowRunId: 'wfr_whole',
      workflowUrl: 'https://flow.example/orders',
      workflowState: 'RUN_SUCCESS',
      workflowRunCreatedAt: createdAt,
      workflowRunResponse: '{"ok":true}',
      workflowRunCallerIp: '192.0.2.7',
      invoker: {
        workflowRunId: 'wfr_above',
        workflowUrl: 'https://flow.example/above',
        workflowRunCreatedAt: 17,
      },
      label: 'one',
      labels: ['one', 'two'],
      flowControlKey: 'flow',
      requests: [
        {
          messageId,
          retried: 0,
          startedAt: expect.any(Number) as number,
          endedAt: createdAt + 1,
          status: 503,
          error: '503 Service Unavailable',
          submitted: [],
        },
        {
          messageId,
          retried: 1,
          startedAt: expect.any(Number) as number,
          endedAt: expect.any(Number) as number,
          status: 200,
          submitted: ['step 1'],
        },
        {
          messageId: step?.messageId,
          retried: 0,
          startedAt: expect.any(Number) as number,
          endedAt: expect.any(Number) as number,
          status: 200,
          submitted: [],
          returned: true,
        },
      ],
      steps: [
        {
          type: 'sequential',
          steps: [
            {
              stepName: 'init',
              stepType: 'Initial',
              out: '{"n":1}',
              messageId,
              createdAt,
              ...common,
              headers,
            },
          ],
        },
        {
          type: 'sequential',
          steps: [
            {
              stepId: 1,
              stepName: 'step 1',
              stepType: 'Run',
              out: '"charged"',
              messageId: step?.messageId,
              createdAt: stepsOf(run)[1]?.createdAt,
              ...common,
              headers,
              errors: stepsOf(run)[1]?.errors,
            },
          ],
        },
      ],
    });
    expect(stepsOf(run)[1]?.errors).toHaveLength(1);
  });

  it('prefers the headers and settings of a step to those of its run', async () => {
    await runFixture.start('wfr_own', { details: { features: ['LazyFetch'] } });
    const config = { retries: '1', 'retry-delay': '7', 'forward-x-tenant': 'of the step' };
    await runFixture.submit('wfr_own', [resultOf(1)], config);
    expect(stepsOf(await runOf('wfr_own'))).toMatchObject([
      { headers: { 'X-Tenant': ['acme'] } },
      { retries: 1, retryDelay: '7', headers: { 'X-Tenant': ['of the step'] } },
    ]);
  });

  it('has sleeps in milliseconds, branches and waits', async () => {
    const { messageId } = await runFixture.start('wfr_kinds');
    await runFixture.attempt(messageId, 'DELIVERED');
    const dueAt = Date.now() + 600_000;
    const [sleep] = await runFixture.submit(
      'wfr_kinds',
      [resultOf(1, undefined, { stepType: 'SleepFor', sleepFor: '10m' })],
      { delay: '10m' },
    );
    expect(outlineOf(await runOf('wfr_kinds'))).toEqual([
      'sequential STEP_SUCCESS',
      'sequential STEP_PROGRESS',
    ]);
    await runFixture.attempt(sleep?.messageId ?? '', 'DELIVERED');
    const branch = { concurrent: 2, stepId: 0 };
    await runFixture.submit('wfr_kinds', [
      { ...branch, targetStep: 2, stepName: 'a', stepType: 'Run' },
      { ...branch, targetStep: 3, stepName: 'b', stepType: 'SleepUntil', sleepUntil: 2_000_000_000.5 },
    ]);
    expect(stepsOf(await runOf('wfr_kinds'))[3]).toMatchObject({
      stepName: 'b',
      sleepUntil: 2_000_000_000_500,
    });
    await runFixture.submit('wfr_kinds', [resultOf(2, '"a"', { concurrent: 2, stepName: 'a' })]);
    const wait = {
      step: { stepId: 3, stepName: 'b', stepType: 'Wait', concurrent: 2 },
      eventId: 'paid',
      deadline: dueAt,
      forwarded: [['x-tenant', 'acme']],
    } as const;
    await runFixture.append('wfr_kinds', waitRecord(3, wait));
    const run = await runOf('wfr_kinds');
    expect(outlineOf(run)).toEqual([
      'sequential STEP_SUCCESS',
      'sequential STEP_SUCCESS',
      'parallel STEP_SUCCESS STEP_PROGRESS',
    ]);
    const [, slept, , waiting] = stepsOf(run);
    expect(slept).toMatchObject({ sleepFor: 600_000, stepName: 'step 1' });
    expect(waiting).toMatchObject({
      waitEventId: 'paid',
      waitTimeoutDuration: '1d',
      waitTimeoutDeadline: dueAt,
      headers: { 'X-Tenant': ['acme'] },
    });
  });

  it('shows a call’s request, answer and result', async () => {
    await runFixture.start('wfr_call');
    const messageId = newMessageId();
    const step = { stepId: 1, stepName: 'ask', stepType: 'Call', concurrent: 1 } as const;
    await runFixture.append('wfr_call', { kind: 'call', at: Date.now(), step, messageId });
    // The record is written before the message.
    expect(stepsOf(await runOf('wfr_call'))[1]).toMatchObject({
      callType: 'toCallback',
      state: 'STEP_PROGRESS',
    });

    await runFixture.message('wfr_call', messageId, 'call', 'asked', {
      url: 'https://user:secret@third.example/ask',
      method: 'PUT',
      headers: [['x-key', 'k']],
      maxRetries: 0,
      callback: callbackTo(endpoint, { maxRetries: 3 }),
    });
    const asked = {
      callUrl: 'https://third.example/ask',
      callMethod: 'PUT',
      callHeaders: { 'X-Key': ['k'] },
      callBody: 'asked',
      retries: 0,
    };
    expect(stepsOf(await runOf('wfr_call'))[1]).toMatchObject(asked);

    await runFixture.attempt(messageId, 'DELIVERED', { status: 201 });
    const answered = stepsOf(await runOf('wfr_call'))[1];
    expect(answered).toMatchObject({ ...asked, callType: 'fromCallback', callResponseStatus: 201 });
    const history = await lambdas.loadMessage({ accountId: fixture.account.id, messageId });
    if (history === undefined) throw new Error('The call is not there.');
    const answer = {
      status: 201,
      header: { 'X-Answer': ['yes'] },
      body: Buffer.from('answered').toString('base64'),
    };
    const [attempt] = history.attempts;
    const [resultId] = attempt === undefined ? [] : lambdas.callbackIdsOf({ history, attempt });
    if (resultId === undefined) throw new Error('Nobody is told.');
    await runFixture.message('wfr_call', resultId, 'callResult', JSON.stringify(answer));
    await runFixture.attempt(resultId, 'RETRY', { nextDeliveryAt: 4_000_000_000_000 });
    const told = {
      ...asked,
      callType: 'fromCallback',
      callResponseStatus: 201,
      callResponseBody: 'answered',
      callResponseHeaders: { 'X-Answer': ['yes'] },
    };
    expect(stepsOf(await runOf('wfr_call'))[1]).toMatchObject({
      ...told,
      state: 'STEP_RETRY',
      nextDeliveryTime: 4_000_000_000_000,
    });

    const out = JSON.stringify({ ...answer, body: 'answered' });
    await runFixture.submit('wfr_call', [{ ...step, out }]);
    expect(stepsOf(await runOf('wfr_call'))[1]).toMatchObject({
      ...told,
      state: 'STEP_SUCCESS',
      retries: 3,
      out,
    });
  });

  it('names the invoked run and its payload', async () => {
    const child = await runFixture.start('wfr_child', { payload: 'for the child' });
    await runFixture.start('wfr_parent');
    const invoke = {
      kind: 'invoke',
      at: Date.now(),
      step: { stepId: 1, stepName: 'invoke', stepType: 'Invoke', concurrent: 1 },
      messageId: child.messageId,
      url: endpoint,
    } as const;
    await runFixture.append('wfr_parent', { ...invoke, runId: 'wfr_child', createdAt: child.createdAt });
    expect(stepsOf(await runOf('wfr_parent'))[1]).toMatchObject({
      state: 'STEP_PROGRESS',
      invokedWorkflowRunId: 'wfr_child',
      invokedWorkflowUrl: endpoint,
      invokedWorkflowCreatedAt: child.createdAt,
      invokedWorkflowRunBody: 'for the child',
      invokedWorkflowRunHeaders: { 'X-Tenant': ['acme'] },
    });
    // The parent ends first, so the result is only shown in the log.
    await runFixture.end('wfr_parent', { state: 'RUN_CANCELED' });
    expect(outlineOf(await runOf('wfr_parent'))).toContain('sequential STEP_CANCELED');
    const entry = {
      messageId: newMessageId(),
      url: endpoint,
      createdAt: Date.now(),
      notBefore: Date.now(),
      body: {
        at: 'here',
        bytes: Buffer.from(JSON.stringify(resultOf(1, '{}', { stepType: 'Invoke', stepName: 'invoke' }))),
        deflated: false,
      },
      bodyBytes: 10,
      step: { kind: 'result', ...invoke.step },
    } as const;
    await runFixture.append('wfr_parent', { kind: 'lateResult', at: Date.now(), entry });
    expect(stepsOf(await runOf('wfr_parent'))[1]).toMatchObject({ state: 'STEP_SUCCESS', out: '{}' });
  });

  it('shows a run of an unknown client by the delivery that its upgrade made', async () => {
    const { messageId } = await runFixture.start('wfr_upgrade', { details: { isUnknownClient: true } });
    await runFixture.attempt(messageId, 'RETRY');
    await runFixture.attempt(messageId, 'DELIVERED');
    expect(outlineOf(await runOf('wfr_upgrade'))).toEqual(['sequential STEP_SUCCESS']);
    const { start } = (await runFixture.journalOf('wfr_upgrade')) ?? {};
    if (start === undefined) throw new Error('The run is not there.');
    const again = newMessageId();
    const forwarded: readonly Header[] = [['x-new', '1']];
    await runFixture.append('wfr_upgrade', {
      kind: 'upgrade',
      at: Date.now(),
      start: { ...start, forwarded },
      messageId: again,
    });
    await runFixture.message('wfr_upgrade', again, 'list', '');
    const run = await runOf('wfr_upgrade');
    expect(outlineOf(run)).toEqual(['sequential STEP_SUCCESS', 'next STEP_RETRY']);
    expect(stepsOf(run)[0]?.headers).toEqual({ 'X-New': ['1'] });
    await runFixture.attempt(again, 'FAILED');
    const failed = await runOf('wfr_upgrade');
    expect(outlineOf(failed)).toEqual(['sequential STEP_SUCCESS', 'next STEP_FAILED']);
    expect(failed.steps.at(-1)?.steps[0]?.errors).toHaveLength(2);
  });
});
