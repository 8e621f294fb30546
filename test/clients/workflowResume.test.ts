import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, ok, unique } from '../support/api.ts';
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

const resumed = z.object({
  workflowRuns: z.array(z.object({ workflowRunId: z.string(), workflowCreatedAt: z.number() })),
  cursor: z.string(),
});

async function failed(
  url: string,
  more: { label?: string; flowControl?: { key: string; rate: number } } = {},
) {
  const headers = { 'X-Tenant': 'acme' };
  const { workflowRunId } = await app.client.trigger({ url, body: { n: 10 }, headers, retries: 0, ...more });
  const run = await app.logged(workflowRunId);
  expect(run.workflowState).toBe('RUN_FAILED');
  const [entry] = await eventually(
    async () => (await app.client.dlq.list({ filter: { workflowRunId } })).messages,
    ({ length }) => length === 1,
  );
  if (entry === undefined) throw new Error('The run is not in the dead letter queue.');
  return { workflowRunId, dlqId: entry.dlqId, createdAt: run.workflowRunCreatedAt };
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

  it('fails again, and can be resumed again', async () => {
    const flow = fiveSteps();
    const { dlqId } = await failed(flow.url);
    const second = await resumeOne(dlqId);
    await app.logged(second.workflowRunId);
    const { messages } = await eventually(
      () => app.client.dlq.list({ filter: { workflowRunId: second.workflowRunId } }),
      (page) => page.messages.length === 1,
    );
    flow.isMended = true;
    const third = await resumeOne(messages[0]?.dlqId ?? '');
    const run = await app.logged(third.workflowRunId);
    expect(run.workflowState).toBe('RUN_SUCCESS');
    expect(flow.ran.filter((step) => step === 'step 1')).toHaveLength(1);
  });

  it('that is resumed twice at once is one new run', async () => {
    const flow = fiveSteps();
    const { dlqId } = await failed(flow.url);
    flow.isMended = true;
    const answers = await Promise.all([resumeOne(dlqId), resumeOne(dlqId), resumeOne(dlqId)]);
    expect(new Set(answers.map(({ workflowRunId }) => workflowRunId)).size).toBe(1);
    await app.logged(answers[0].workflowRunId);
    expect(flow.ran.slice(3)).toEqual(['step 3', 'step 4', 'step 5']);
  });

  it('calls its failure function once more if that failed', async () => {
    let calls = 0;
    const url = app.serve(
      async (context) => {
        await context.run('bad', () => {
          throw new Error('broken');
        });
      },
      {
        failureFunction: () => {
          calls += 1;
          if (calls === 1) throw new Error('not yet');
          return 'noted';
        },
      },
    );
    const { workflowRunId } = await app.client.trigger({ url, retries: 0 });
    await app.logged(workflowRunId, ({ failureFunction }) => failureFunction?.state === 'CALLBACK_FAIL');
    const { messages } = await eventually(
      () => app.client.dlq.list({ filter: { workflowRunId, failureFunctionState: 'CALLBACK_FAIL' } }),
      (page) => page.messages.length === 1,
    );
    await app.client.dlq.retryFailureFunction({ dlqId: messages[0]?.dlqId ?? '' });
    const run = await app.logged(
      workflowRunId,
      ({ failureFunction }) => failureFunction?.state === 'CALLBACK_SUCCESS',
    );
    expect(calls).toBe(2);
    expect(run.workflowState).toBe('RUN_FAILED');
  });
});

describe('failed runs', () => {
  const resume = async (query: string, headers: Record<string, string> = {}) =>
    resumed.parse(await ok(api('POST', `/v2/workflows/dlq/resume?${query}`, { token: app.token, headers })));

  it.each([
    ['its url', ({ url }: { url: string }) => `workflowUrl=${encodeURIComponent(url)}`],
    ['its id', ({ workflowRunId }: { workflowRunId: string }) => `workflowRunId=${workflowRunId}`],
    [
      'its id and start',
      ({ workflowRunId, createdAt }: { workflowRunId: string; createdAt: number }) =>
        `workflowRunId=${workflowRunId}&workflowCreatedAt=${createdAt}`,
    ],
    ['its label', ({ label }: { label: string }) => `label=${label}`],
    ['its flow-control key', ({ key }: { key: string }) => `flowControlKey=${key}`],
    ['its dead letter', ({ dlqId }: { dlqId: string }) => `dlqIds=${dlqId}`],
  ] as const)('are resumed by %s with plain HTTP', async (_name, queryOf) => {
    const flow = fiveSteps();
    const [label, key] = [unique('label'), unique('key')];
    const one = await failed(flow.url, { label, flowControl: { key, rate: 100 } });
    flow.isMended = true;
    const page = await resume(queryOf({ ...one, url: flow.url, label, key }), { 'Svc-Retries': '1' });
    expect(page.cursor).toBe('');
    expect(page.workflowRuns).toHaveLength(1);
    const run = await app.logged(page.workflowRuns[0]?.workflowRunId ?? '');
    expect(run.workflowState).toBe('RUN_SUCCESS');
    expect(await inQueue(one.workflowRunId)).toBe(0);
  });

  it('are resumed some at a time, with a cursor', async () => {
    const flow = fiveSteps();
    const label = unique('label');
    for (let count = 0; count < 5; count += 1) await failed(flow.url, { label });
    flow.isMended = true;
    const ids: string[] = [];
    let cursor = '';
    do {
      const page = await resume(`label=${label}&count=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      ids.push(...page.workflowRuns.map(({ workflowRunId }) => workflowRunId));
      ({ cursor } = page);
    } while (cursor !== '');
    expect(new Set(ids).size).toBe(5);
    for (const id of ids) expect((await app.logged(id)).workflowState).toBe('RUN_SUCCESS');
  });

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
