import { gzipSync } from 'node:zlib';
import { WorkflowNonRetryableError, WorkflowRetryAfterError, type WorkflowContext } from '@upstash/workflow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { api, ok } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { service } from '../support/service.ts';
import { startWorkflowApp, type WorkflowApp } from '../support/workflowApp.ts';

/** Runs the unchanged published workflow client on this service. */

let app: WorkflowApp;
beforeAll(async () => {
  app = await startWorkflowApp();
});
afterAll(() => app.close());

const allSteps = ({ steps }: { steps: { steps: readonly unknown[] }[] }): readonly unknown[] =>
  steps.flatMap((group) => group.steps);

const groupsOf = ({ steps }: { steps: { type: string; steps: unknown[] }[] }): readonly string[] =>
  steps.map((group) => `${group.type} ${group.steps.length}`);

describe('a run', () => {
  it('of sequential steps makes each once, and returns its value', async () => {
    const ran: string[] = [];
    const url = app.serve<{ n: number }>(async (context) => {
      const one = await context.run('one', () => {
        ran.push('one');
        return context.requestPayload.n + 1;
      });
      const two = await context.run('two', () => {
        ran.push('two');
        return one * 2;
      });
      return { two, tenant: context.headers.get('x-tenant'), label: context.labels };
    });
    const headers = { 'X-Tenant': 'acme' };
    const { workflowRunId } = await app.client.trigger({ url, body: { n: 1 }, headers, label: 'orders' });
    const run = await app.logged(workflowRunId);
    expect(ran).toEqual(['one', 'two']);
    expect(run).toMatchObject({
      workflowRunId,
      workflowUrl: url,
      workflowState: 'RUN_SUCCESS',
      workflowRunResponse: '{"two":4,"tenant":"acme","label":["orders"]}',
    });
    expect(run.workflowRunCompletedAt).toBeGreaterThanOrEqual(run.workflowRunCreatedAt);
    expect(allSteps(run)).toMatchObject([
      { stepName: 'init', stepType: 'Initial', out: '{"n":1}', state: 'STEP_SUCCESS' },
      { stepId: 1, stepName: 'one', stepType: 'Run', out: '2', state: 'STEP_SUCCESS' },
      { stepId: 2, stepName: 'two', stepType: 'Run', out: '4', state: 'STEP_SUCCESS' },
    ]);
    expect(groupsOf(run)).toEqual(['sequential 1', 'sequential 1', 'sequential 1']);
    // Each delivery has the list up to its own entry. The run ends before the last delivery is answered.
    const got = await eventually(
      () => Promise.resolve(app.gotAt(url)),
      ({ length }) => length === 3,
    );
    const lengths = got.map(({ body }) => (JSON.parse(body) as unknown[]).length);
    expect(lengths).toEqual([1, 2, 3]);
  });

  it('of parallel steps waits for all of them, and for a sleep among them', async () => {
    const url = app.serve(async (context) => {
      const [a, , b] = await Promise.all([
        context.run('a', () => 1),
        context.sleep('nap', 1),
        context.run('b', () => 2),
      ]);
      return context.run('sum', () => a + b);
    });
    const { workflowRunId } = await app.client.trigger({ url });
    const run = await app.logged(workflowRunId);
    expect([run.workflowState, run.workflowRunResponse]).toEqual(['RUN_SUCCESS', '3']);
    expect(groupsOf(run)).toEqual(['sequential 1', 'parallel 3', 'sequential 1']);
    expect(run.steps[1]?.steps).toMatchObject([
      { stepName: 'a', state: 'STEP_SUCCESS', out: '1' },
      { stepName: 'nap', state: 'STEP_SUCCESS' },
      { stepName: 'b', state: 'STEP_SUCCESS', out: '2' },
    ]);
  });

  it('of many parallel steps makes each once', async () => {
    // The emulator starts a process for each parallel request.
    const count = service.target === 'local' ? 40 : 8;
    const ran: number[] = [];
    const url = app.serve(async (context) => {
      const all = await Promise.all(
        Array.from({ length: count }, (_, index) =>
          context.run(`step ${index}`, () => {
            ran.push(index);
            return index;
          }),
        ),
      );
      return all.reduce((sum, one) => sum + one, 0);
    });
    const { workflowRunId } = await app.client.trigger({ url });
    const run = await app.logged(workflowRunId);
    const sum = (count * (count - 1)) / 2;
    expect([run.workflowState, run.workflowRunResponse]).toEqual(['RUN_SUCCESS', String(sum)]);
    expect(ran.toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: count }, (_, index) => index),
    );
  });

  it('calls a third party, and continues with any answer', async () => {
    const asked: (string | null)[] = [];
    const third = app.answer(async (request) => {
      asked.push(await request.text(), request.headers.get('x-mine'));
      return new Response('{"no":true}', { status: 503 });
    });
    const url = app.serve(async (context) => {
      const headers = { 'x-mine': 'yes' };
      const body = JSON.stringify({ a: 1 });
      const { status, body: answer } = await context.call('third', {
        url: third,
        method: 'POST',
        body,
        headers,
      });
      return { status, answer };
    });
    const { workflowRunId } = await app.client.trigger({ url });
    const run = await app.logged(workflowRunId);
    expect(asked).toEqual(['{"a":1}', 'yes']);
    expect([run.workflowState, run.workflowRunResponse]).toEqual([
      'RUN_SUCCESS',
      '{"status":503,"answer":{"no":true}}',
    ]);
    expect(run.steps[1]?.steps[0]).toMatchObject({
      stepName: 'third',
      stepType: 'Call',
      callType: 'fromCallback',
      state: 'STEP_SUCCESS',
      callUrl: third,
      callMethod: 'POST',
      callBody: '{"a":1}',
      callResponseStatus: 503,
    });
  });

  it('calls a third party that always compresses, and gets its text', async () => {
    const accepted: (string | null)[] = [];
    const third = app.answer((request) => {
      accepted.push(request.headers.get('accept-encoding'));
      return new Response(gzipSync('{"yes":true}'), {
        headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      });
    });
    const url = app.serve(async (context) => {
      const { body } = await context.call('third', { url: third, headers: { 'accept-encoding': 'zstd' } });
      return body;
    });
    const { workflowRunId } = await app.client.trigger({ url });
    const run = await app.logged(workflowRunId);
    expect(accepted).toEqual([null]);
    expect([run.workflowState, run.workflowRunResponse]).toEqual(['RUN_SUCCESS', '{"yes":true}']);
  });

  it('calls a third party with the call’s own retries, and continues if there is no answer', async () => {
    let calls = 0;
    const flaky = app.answer(() => {
      calls += 1;
      return new Response('later', { status: calls < 3 ? 500 : 200 });
    });
    const url = app.serve(async (context) => {
      const { body } = await context.call('flaky', { url: flaky, retries: 3, retryDelay: '100' });
      const { status } = await context.call('nobody', { url: 'http://127.0.0.1:1/' });
      return { body, status };
    });
    const { workflowRunId } = await app.client.trigger({ url });
    const run = await app.logged(workflowRunId);
    expect(calls).toBe(3);
    expect([run.workflowState, run.workflowRunResponse]).toEqual([
      'RUN_SUCCESS',
      '{"body":"later","status":0}',
    ]);
  });
});

describe('an invoked run', () => {
  const invoking = (child: (context: WorkflowContext) => Promise<unknown>): string => {
    const childUrl = app.serve(child);
    const workflowId = childUrl.split('/').at(-1) ?? '';
    return app.serve((context) =>
      context.invoke('ask', {
        workflow: { routeFunction: child, options: {}, workflowId },
        body: { for: 'child' },
        retries: 0,
      }),
    );
  };

  it.each([
    [
      'returns its value',
      async (context: WorkflowContext) => ({ got: await context.run('get', () => context.requestPayload) }),
      '{"body":{"got":{"for":"child"}},"isFailed":false,"isCanceled":false}',
    ],
    [
      'fails',
      async (context: WorkflowContext) => {
        await context.run('bad', () => {
          throw new Error('broken');
        });
      },
      '{"isFailed":true,"isCanceled":false}',
    ],
    [
      'is cancelled',
      async (context: WorkflowContext) => {
        await context.run('one', () => 1);
        await context.cancel();
      },
      '{"isFailed":false,"isCanceled":true}',
    ],
  ] as const)('that %s tells its invoker', async (_name, child, result) => {
    const { workflowRunId } = await app.client.trigger({ url: invoking(child) });
    const run = await app.logged(workflowRunId);
    expect([run.workflowState, run.workflowRunResponse]).toEqual(['RUN_SUCCESS', result]);
    expect(run.steps[1]?.steps[0]).toMatchObject({
      stepName: 'ask',
      stepType: 'Invoke',
      state: 'STEP_SUCCESS',
    });
  });
});

describe('a run that fails', () => {
  it('calls its failure function after its retries', async () => {
    const told: unknown[] = [];
    let tries = 0;
    const url = app.serve(
      async (context) => {
        await context.run('good', () => 1);
        await context.run('bad', () => {
          tries += 1;
          throw new Error('broken');
        });
      },
      {
        failureFunction: ({ failResponse, failStatus, context }) => {
          told.push([failResponse, failStatus, context.workflowRunId, context.requestPayload]);
          return 'noted';
        },
      },
    );
    const { workflowRunId } = await app.client.trigger({
      url,
      body: { n: 1 },
      retries: 1,
      retryDelay: '100',
    });
    const run = await app.logged(
      workflowRunId,
      ({ failureFunction }) => failureFunction?.state === 'CALLBACK_SUCCESS',
    );
    expect(tries).toBe(2);
    expect(told).toEqual([['broken', 500, workflowRunId, { n: 1 }]]);
    expect(run).toMatchObject({
      workflowState: 'RUN_FAILED',
      failureFunction: { responseBody: '{"result":"noted"}' },
    });
    expect(run.steps.at(-1)).toMatchObject({
      type: 'next',
      steps: [{ state: 'STEP_FAILED', stepName: 'bad', errors: [{ status: 500 }, { status: 500 }] }],
    });
    const { messages } = await app.client.dlq.list({ filter: { workflowRunId } });
    expect(messages).toMatchObject([{ workflowRunId, workflowUrl: url, responseStatus: 500 }]);
    const path = `/v2/workflows/dlq/${messages[0]?.dlqId ?? ''}`;
    expect(await ok(api('GET', path, { token: app.token }))).toMatchObject({
      workflowRunId,
      body: '{"n":1}',
    });
  });

  it('with a non-retryable error fails at once', async () => {
    let tries = 0;
    const url = app.serve(async (context) => {
      await context.run('bad', () => {
        tries += 1;
        throw new WorkflowNonRetryableError('never');
      });
    });
    const { workflowRunId } = await app.client.trigger({ url, retries: 3 });
    const run = await app.logged(workflowRunId);
    expect([run.workflowState, tries]).toEqual(['RUN_FAILED', 1]);
    expect(run.steps.at(-1)).toMatchObject({ type: 'next', steps: [{ errors: [{ status: 489 }] }] });
  });

  it('is retried when its error says', async () => {
    const times: number[] = [];
    const url = app.serve(async (context) =>
      context.run('limited', () => {
        times.push(Date.now());
        if (times.length === 1) throw new WorkflowRetryAfterError('not now', '1s');
        return 'done';
      }),
    );
    const { workflowRunId } = await app.client.trigger({ url, retries: 1 });
    const run = await app.logged(workflowRunId);
    expect([run.workflowState, run.workflowRunResponse]).toEqual(['RUN_SUCCESS', '"done"']);
  });

  it('because its destination is not a workflow says so', async () => {
    const url = app.answer(() => new Response('hello'));
    const { workflowRunId } = await app.client.trigger({ url });
    const run = await app.logged(workflowRunId);
    expect(run.workflowState).toBe('RUN_FAILED');
    expect(JSON.stringify(run.steps.at(-1))).toContain('detected a non-workflow destination');
  });
});

describe('a cancelled run', () => {
  it('ends there, without a call of its failure function', async () => {
    const url = app.serve(async (context) => {
      await context.sleep('long', 3_600);
    });
    const { workflowRunId } = await app.client.trigger({ url });
    await app.logged(workflowRunId, ({ steps }) => steps.length > 1);
    expect(await app.client.cancel([workflowRunId])).toEqual({ cancelled: 1 });
    const run = await app.logged(workflowRunId);
    expect(run.workflowState).toBe('RUN_CANCELED');
    expect(run.failureFunction).toBeUndefined();
  });
});
