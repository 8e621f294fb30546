import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { eventually } from '../support/eventually.ts';
import { service } from '../support/service.ts';
import { startWorkflowApp, type WorkflowApp } from '../support/workflowApp.ts';

/** An endpoint is called only as often as its steps, calls and starts require. */

let app: WorkflowApp;
beforeAll(async () => {
  app = await startWorkflowApp();
});
afterAll(() => app.close());

const callsOf = async (url: string, workflowRunId: string, expected: number): Promise<number> => {
  await app.logged(workflowRunId);
  // The run ends before its last delivery is answered.
  const got = await eventually(
    () => Promise.resolve(app.gotAt(url)),
    ({ length }) => length >= expected,
  );
  return got.length;
};

const idOf = async (response: Response): Promise<string> =>
  z.object({ workflowRunId: z.string() }).parse(await response.json()).workflowRunId;

const trigger = async (url: string, headers: Readonly<Record<string, string>>): Promise<string> => {
  const response = await fetch(`${service.url}/v2/trigger/${url}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app.token}`, 'upstash-retries': '0', ...headers },
    body: '{"n":1}',
  });
  return idOf(response);
};

const twoSteps = (): string =>
  app.serve<{ n: number }>(async (context) => {
    const one = await context.run('one', () => context.requestPayload.n + 1);
    return context.run('two', () => one + 1);
  });

describe('a run that is triggered without a client', () => {
  it('is delivered like one with a client: once, and once for each step', async () => {
    const url = twoSteps();
    const runId = await trigger(url, {});
    expect(await callsOf(url, runId, 3)).toBe(3);
    expect((await app.logged(runId)).workflowRunResponse).toBe('3');
    expect(app.gotAt(url).map(({ headers }) => headers.get('upstash-workflow-unknown-sdk'))).toEqual([
      null,
      null,
      null,
    ]);
  });

  it('asks its endpoint for its client first, if the trigger says so', async () => {
    const url = twoSteps();
    const runId = await trigger(url, { 'Upstash-Workflow-Unknown-Sdk': 'true' });
    expect(await callsOf(url, runId, 4)).toBe(4);
    expect((await app.logged(runId)).workflowRunResponse).toBe('3');
    expect(app.gotAt(url).map(({ headers }) => headers.get('upstash-workflow-unknown-sdk'))).toEqual([
      'true',
      null,
      null,
      null,
    ]);
  });
});

/** Starts a run by a request to its endpoint, like a call of another workflow’s step. */
const call = async (url: string): Promise<string> => idOf(await fetch(url, { method: 'POST', body: 'x' }));

describe('a run with a refused call', () => {
  const huge = { method: 'GET', retries: 1_000_000 } as const;

  it('fails at once: its endpoint is called for the start and for the payload', async () => {
    const url = app.serve((context) => context.call('huge', { url: app.origin, ...huge }), {
      receiver: undefined,
    });
    const run = await app.logged(await call(url));
    expect(run.workflowState).toBe('RUN_FAILED');
    const got = await eventually(
      () => Promise.resolve(app.gotAt(url)),
      ({ length }) => length >= 2,
    );
    // The first answer causes the second one, and may end after it.
    expect(got.map(({ status }) => status).toSorted()).toEqual([200, 489]);
  });
});
