import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, ok } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { startWorkflowApp, type WorkflowApp } from '../support/workflowApp.ts';

let app: WorkflowApp;
beforeAll(async () => {
  app = await startWorkflowApp();
});
afterAll(() => app.close());

/** Starts a workflow of five steps, the third of which fails until it is repaired. */
function fiveSteps() {
  const ran: string[] = [];
  const flow = { isMended: false, ran, url: '' };
  flow.url = app.serve<{ n: number }>(async (context) => {
    let sum = context.requestPayload.n;
    for (const number of [1, 2, 3, 4, 5]) {
      sum = await context.run(`step ${number}`, () => {
        ran.push(`step ${number}`);
        if (number === 3 && !flow.isMended) throw new Error('broken');
        return sum + number;
      });
    }
    return { sum, tenant: context.headers.get('x-tenant') };
  });
  return flow;
}

async function failed(url: string) {
  const headers = { 'X-Tenant': 'acme' };
  const { workflowRunId } = await app.client.trigger({ url, body: { n: 10 }, headers, retries: 0 });
  const run = await app.logged(workflowRunId);
  expect(run.workflowState).toBe('RUN_FAILED');
  const [entry] = await eventually(
    async () => (await app.client.dlq.list({ filter: { workflowRunId } })).messages,
    ({ length }) => length === 1,
  );
  if (entry === undefined) throw new Error('The run is not in the dead letter queue.');
  return { workflowRunId, dlqId: entry.dlqId };
}

async function firstOf(answer: Promise<{ workflowRuns: { workflowRunId: string }[] }>) {
  const { workflowRuns } = await answer;
  const [run] = workflowRuns;
  if (run === undefined) throw new Error('No run was started.');
  return run;
}

const resumeOne = (dlqId: string) => firstOf(app.client.dlq.resume(dlqId));

const runInTime = z.object({ workflowRunId: z.string(), workflowRunCreatedAt: z.number() });
const lineagePage = z.object({
  runs: z.tuple([
    z.object({
      workflowRunCreatedAt: z.number(),
      resumedFrom: z.optional(runInTime),
      resumedAs: z.optional(runInTime),
    }),
  ]),
});

async function lineageOf(workflowRunId: string) {
  const answer = await ok(
    api('GET', `/v2/workflows/logs?workflowRunId=${workflowRunId}`, { token: app.token }),
  );
  const [run] = lineagePage.parse(answer).runs;
  return { ...run, identity: { workflowRunId, workflowRunCreatedAt: run.workflowRunCreatedAt } };
}

/** Expects that a failed run and the one made from it name each other. */
async function expectLineage(failedId: string, madeId: string): Promise<void> {
  const [before, after] = await Promise.all([lineageOf(failedId), lineageOf(madeId)]);
  expect(before.resumedAs).toEqual(after.identity);
  expect(after.resumedFrom).toEqual(before.identity);
}

const inQueue = async (workflowRunId: string): Promise<number> =>
  (await app.client.dlq.list({ filter: { workflowRunId } })).messages.length;

describe('a failed run', () => {
  it('that is resumed keeps its steps, and ends under a new id', async () => {
    const flow = fiveSteps();
    const { workflowRunId, dlqId } = await failed(flow.url);
    expect(flow.ran).toEqual(['step 1', 'step 2', 'step 3']);
    flow.isMended = true;
    const answer = await resumeOne(dlqId);
    expect(answer.workflowRunId).not.toBe(workflowRunId);
    const run = await app.logged(answer.workflowRunId);
    expect(flow.ran.slice(3)).toEqual(['step 3', 'step 4', 'step 5']);
    expect([run.workflowState, run.workflowRunResponse]).toEqual([
      'RUN_SUCCESS',
      '{"sum":25,"tenant":"acme"}',
    ]);
    expect(await inQueue(workflowRunId)).toBe(0);
    await expectLineage(workflowRunId, answer.workflowRunId);
  });

  it('that is restarted begins again', async () => {
    const flow = fiveSteps();
    const { dlqId, workflowRunId: failedId } = await failed(flow.url);
    flow.isMended = true;
    const { workflowRunId } = await firstOf(app.client.dlq.restart(dlqId));
    const run = await app.logged(workflowRunId);
    expect(flow.ran.slice(3)).toEqual(['step 1', 'step 2', 'step 3', 'step 4', 'step 5']);
    expect(run.workflowState).toBe('RUN_SUCCESS');
    await expectLineage(failedId, workflowRunId);
  });
});

describe('failed runs', () => {
  it('are not changed by a refused request', async () => {
    const flow = fiveSteps();
    const { workflowRunId, dlqId } = await failed(flow.url);
    for (const [query, headers] of [
      [`dlqIds=${dlqId}`, { 'Svc-Retries': 'many' }],
      ['count=0', {}],
      ['workflowUrl=', {}],
      ['cursor=none', {}],
    ] as const) {
      const answer = await api('POST', `/v2/workflows/dlq/resume?${query}`, { token: app.token, headers });
      expect([query, answer.status]).toEqual([query, 400]);
    }
    expect(await inQueue(workflowRunId)).toBe(1);
  });
});
