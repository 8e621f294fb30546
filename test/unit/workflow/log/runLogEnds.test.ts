import { describe, expect, it, vi } from 'vitest';
import { fixture, runFixture, useRuns } from '../../../support/useRuns.ts';
import type { Header } from '../../../../lambdas/shared/headers.ts';
import { newMessageId, openRunLogs, outlineOf, stepsOf, type RunLogs } from '../../../support/runLogs.ts';
import { resultOf } from '../../../support/runFixture.ts';
import { callbackTo, endpoint } from '../../../support/startSettings.ts';

let logs: RunLogs;
useRuns(async () => {
  logs = await openRunLogs(fixture);
});

const runOf = (runId: string, ...query: readonly Header[]) => logs.runOf(runId, ...query);

describe('the log of a run that failed', () => {
  const failedAs = (messageId: string, requestId?: string) => ({
    state: 'RUN_FAILED' as const,
    failure: {
      messageId,
      attempt: 0,
      dlqId: 'dlq_01K00000000000000000000000',
      requestId,
      response: {
        status: 200,
        error: 'detected a non-workflow destination',
        headers: [['x-answer', 'no workflow']] as const,
        body: Buffer.from('<html>'),
      },
    },
  });

  it('has the reason from the record of its end', async () => {
    const { messageId } = await runFixture.start('wfr_wrong');
    await runFixture.attempt(messageId, 'FAILED', { status: 200 });
    await runFixture.end('wfr_wrong', failedAs(messageId));
    const run = await runOf('wfr_wrong');
    expect(outlineOf(run)).toEqual(['sequential STEP_SUCCESS', 'next STEP_FAILED']);
    expect(run.dlqId).toBe('dlq_01K00000000000000000000000');
    expect(run.failureFunction).toBeUndefined();
    const [next] = run.steps.at(-1)?.steps ?? [];
    expect(next?.errors).toEqual([
      {
        status: 200,
        error: 'detected a non-workflow destination',
        headers: { 'X-Answer': ['no workflow'] },
        body: '<html>',
        time: next?.errors?.[0]?.time,
      },
    ]);
  });

  it('shows its failure function, even if that is run again', async () => {
    const failureCallback = callbackTo('https://user:secret@flow.example/failed', { maxRetries: 1 });
    const { messageId } = await runFixture.start('wfr_told', { details: { failureCallback } });
    const requestId = newMessageId();
    await runFixture.end('wfr_told', failedAs(messageId, requestId));
    const known = {
      messageId: requestId,
      url: 'https://flow.example/failed',
      failStatus: 200,
      failHeaders: { 'X-Answer': ['no workflow'] },
      failResponse: '<html>',
      dlqId: 'dlq_01K00000000000000000000000',
      maxRetries: 1,
    };
    expect((await runOf('wfr_told')).failureFunction).toMatchObject({
      ...known,
      state: 'CALLBACK_INPROGRESS',
    });

    await runFixture.message('wfr_told', requestId, 'failureRequest', '{}');
    await runFixture.attempt(requestId, 'RETRY', {
      status: 500,
      body: 'no',
      nextDeliveryAt: 4_000_000_000_000,
    });
    expect((await runOf('wfr_told')).failureFunction).toMatchObject({
      ...known,
      state: 'CALLBACK_INPROGRESS',
      nextDeliveryTime: 4_000_000_000_000,
      errors: [{ status: 500, error: '500 Internal Server Error', body: 'no' }],
      responseStatus: 500,
    });
    await runFixture.attempt(requestId, 'FAILED', { status: 500 });
    const failed = {
      kind: 'failureFunction',
      at: Date.now(),
      state: 'CALLBACK_FAIL',
      messageId: requestId,
    } as const;
    await runFixture.append('wfr_told', failed);
    expect((await runOf('wfr_told')).failureFunction).toMatchObject({ ...known, state: 'CALLBACK_FAIL' });

    const again = newMessageId();
    await runFixture.append('wfr_told', { ...failed, state: 'CALLBACK_INPROGRESS', messageId: again });
    await runFixture.message('wfr_told', again, 'failureRequest', '{}');
    await runFixture.attempt(again, 'DELIVERED', {
      headers: [['x-from', 'function']],
      body: JSON.stringify({ result: 'refunded' }),
    });
    await runFixture.append('wfr_told', { ...failed, state: 'CALLBACK_SUCCESS', messageId: again });
    const { failureFunction } = await runOf('wfr_told');
    expect(failureFunction).toMatchObject({
      ...known,
      messageId: again,
      state: 'CALLBACK_SUCCESS',
      responseStatus: 200,
      responseHeaders: { 'X-From': ['function'] },
      responseBody: '{"result":"refunded"}',
    });
    expect(failureFunction?.errors).toBeUndefined();

    await runFixture.append('wfr_told', { ...failed, state: undefined, messageId: again });
    expect((await runOf('wfr_told')).failureFunction).toBeUndefined();
  });
});

describe('a text in a log', () => {
  const redaction = { body: true, headers: ['x-tenant'] };
  const settings = { maxRetries: 3, labels: [], timeoutMs: 30_000, redaction };

  it('is a hash if the run redacts it, whether it is the user’s or the endpoint’s', async () => {
    const { messageId } = await runFixture.start('wfr_hidden', {
      payload: 'secret payload',
      details: { settings },
    });
    await runFixture.attempt(messageId, 'RETRY', {
      headers: [
        ['x-tenant', 'secret tenant'],
        ['upstash-error-step-name', 'charge'],
      ],
      body: 'secret error',
      nextDeliveryAt: Date.now(),
    });
    await runFixture.submit('wfr_hidden', [resultOf(1, '"secret out"')]);
    const callId = newMessageId();
    const step = { stepId: 2, stepName: 'ask', stepType: 'Call', concurrent: 1 } as const;
    await runFixture.append('wfr_hidden', { kind: 'call', at: Date.now(), step, messageId: callId });
    await runFixture.message('wfr_hidden', callId, 'call', 'secret question', {
      headers: [['x-tenant', 'secret']],
    });
    await runFixture.submit('wfr_hidden', [
      {
        ...step,
        out: JSON.stringify({ status: 200, body: 'secret answer', header: { 'x-tenant': ['secret'] } }),
      },
    ]);
    const child = await runFixture.start('wfr_hiddenChild', { payload: 'secret child' });
    await runFixture.append('wfr_hidden', {
      kind: 'invoke',
      at: Date.now(),
      step: { stepId: 3, stepName: 'invoke', stepType: 'Invoke', concurrent: 1 },
      messageId: child.messageId,
      runId: 'wfr_hiddenChild',
      createdAt: child.createdAt,
      url: endpoint,
    });
    await runFixture.end('wfr_hidden', {
      state: 'RUN_SUCCESS',
      response: { at: 'here', bytes: Buffer.from('secret end'), deflated: false },
      responseId: newMessageId(),
    });
    const run = await runOf('wfr_hidden');
    expect(JSON.stringify(run)).not.toContain('secret');
    const hash = /^REDACTED:[0-9a-f]{64}$/;
    expect(run.workflowRunResponse).toMatch(hash);
    const [init, first, call, invoke] = stepsOf(run);
    for (const text of [
      init?.out,
      init?.headers['X-Tenant']?.[0],
      first?.out,
      first?.errors?.[0]?.body,
      call?.callBody,
      call?.callResponseBody,
      call?.callResponseHeaders?.['X-Tenant']?.[0],
      invoke?.invokedWorkflowRunBody,
    ]) {
      expect(text).toMatch(hash);
    }
    expect(first?.errors?.[0]?.headers['Upstash-Error-Step-Name']).toEqual(['charge']);
  });

  it('is as long as trimBody says', async () => {
    await runFixture.start('wfr_trim', { payload: 'aäb' });
    await runFixture.submit('wfr_trim', [resultOf(1, '"done"')]);
    const outs = async (...query: readonly Header[]) =>
      stepsOf(await runOf('wfr_trim', ...query)).map(({ out }) => out);
    expect(await outs()).toEqual(['aäb', '"done"']);
    expect(await outs(['trimBody', '2'])).toEqual(['a', '"d']);
    expect(await outs(['trimBody', '0'])).toEqual(['', '']);
    expect(await outs(['trimBody', '-1'])).toEqual([undefined, undefined]);
  });
});

describe('an expired run', () => {
  it('is left out of the log even if its row still exists', async () => {
    const { createdAt } = await runFixture.start('wfr_old', { details: { callerIp: '203.0.113.55' } });
    const callId = newMessageId();
    const step = { stepId: 1, stepName: 'ask', stepType: 'Call', concurrent: 1 } as const;
    await runFixture.append('wfr_old', { kind: 'call', at: Date.now(), step, messageId: callId });
    const body = 'asked'.repeat(1_000);
    await runFixture.message('wfr_old', callId, 'call', body);
    expect(stepsOf(await runOf('wfr_old'))[1]).toMatchObject({ callBody: body });
    await runFixture.message('wfr_old', callId, 'call', body, { expiresAt: Date.now() - 1_000 });
    const [, call] = stepsOf(await runOf('wfr_old'));
    expect([call?.stepName, call?.callBody, call?.callUrl]).toEqual(['ask', undefined, undefined]);

    const { keptUntil } = await runFixture.snapshotOf('wfr_old');
    vi.spyOn(Date, 'now').mockReturnValue(keptUntil);
    const old: readonly Header[] = [
      ['workflowRunId', 'wfr_old'],
      ['workflowCreatedAt', String(createdAt)],
    ];
    expect(await logs.page(...old)).toEqual({ cursor: '', runs: [] });
  });
});
