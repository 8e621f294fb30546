import { WorkflowNonRetryableError } from '@upstash/workflow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { eventually } from '../support/eventually.ts';
import { service } from '../support/service.ts';
import { startWorkflowApp, type WorkflowApp } from '../support/workflowApp.ts';

let app: WorkflowApp;
beforeAll(async () => {
  app = await startWorkflowApp();
});
afterAll(() => app.close());

type Listed = Awaited<ReturnType<typeof app.client.dlq.list>>['messages'];

const deadLettersOf = (url: string, count = 1): Promise<Listed> =>
  eventually(
    async () => (await app.client.dlq.list()).messages.filter(({ workflowUrl }) => workflowUrl === url),
    ({ length }) => length === count,
  );

const started = z.object({ workflowRunId: z.string(), workflowCreatedAt: z.int() });
const many = z.object({ workflowRuns: z.array(started), cursor: z.string() });

async function send(method: string, path: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${service.url}/v2/workflows/dlq${path}`, {
    method,
    headers: { authorization: `Bearer ${app.token}`, ...headers },
  });
  const body: unknown = await response.json();
  return { status: response.status, body };
}

/** Starts a workflow whose third step fails until it is repaired, and records what its functions did. */
function brokenWorkflow(options: { readonly failureFunction?: () => Promise<string> } = {}) {
  const state = { isMended: false };
  const ran: string[] = [];
  const returned: unknown[] = [];
  const url = app.serve<string>(async (context) => {
    const one = await context.run('one', () => {
      ran.push('one');
      return 1;
    });
    const [two, three] = await Promise.all([
      context.run('two', () => {
        ran.push('two');
        return 2;
      }),
      context.run('three', () => {
        ran.push('three');
        if (!state.isMended) throw new WorkflowNonRetryableError('it is broken');
        return 3;
      }),
    ]);
    const result = {
      sum: one + two + three,
      payload: context.requestPayload,
      tenant: context.headers.get('x-tenant'),
    };
    returned.push(result);
    return result;
  }, options);
  return { url, state, ran, returned };
}

/** Waits until a workflow has returned this number of times. */
const returnedOf = ({ returned }: ReturnType<typeof brokenWorkflow>, count: number) =>
  eventually(
    () => Promise.resolve(returned),
    ({ length }) => length === count,
  );

const trigger = (url: string, more: Readonly<Record<string, unknown>> = {}) =>
  app.client.trigger({ url, body: 'the payload', headers: { 'x-tenant': 'acme' }, retries: 0, ...more });

const whole = { sum: 6, payload: 'the payload', tenant: 'acme' };

describe('a failed run', () => {
  it('is deleted by the client', async () => {
    const workflow = brokenWorkflow();
    await trigger(workflow.url);
    const [deadLetter] = await deadLettersOf(workflow.url);
    expect(await app.client.dlq.delete(deadLetter?.dlqId ?? '')).toMatchObject({ deleted: 1 });
    await deadLettersOf(workflow.url, 0);
  });

  it('calls its failure function again if the client asks for it', async () => {
    let told = 0;
    const workflow = brokenWorkflow({
      failureFunction: () => {
        told += 1;
        return told === 1 ? Promise.reject(new Error('not now')) : Promise.resolve('told');
      },
    });
    await trigger(workflow.url);
    const stateOf = (state: string) =>
      eventually(
        () => deadLettersOf(workflow.url),
        ([one]) => one?.failureCallbackInfo?.state === state,
      );
    const [deadLetter] = await stateOf('CALLBACK_FAIL');
    const dlqId = deadLetter?.dlqId ?? '';
    expect((await send('DELETE', `/callback/${dlqId}`)).status).toBe(400);
    const answer = await app.client.dlq.retryFailureFunction({ dlqId });
    expect(answer).toMatchObject({ workflowRunId: deadLetter?.workflowRunId });
    await stateOf('CALLBACK_SUCCESS');
    expect(told).toBe(2);
    expect((await send('POST', `/callback/${dlqId}`)).status).toBe(400);
  });
});

describe('failed runs, in plain HTTP', () => {
  it('are resumed by filters, page by page, with the settings of headers in both dialects', async () => {
    const workflow = brokenWorkflow();
    for (let number = 0; number < 5; number += 1) await trigger(workflow.url, { label: 'bulk' });
    await deadLettersOf(workflow.url, 5);
    workflow.state.isMended = true;
    const query = `count=2&label=bulk&workflowUrl=${encodeURIComponent(workflow.url)}`;
    const runs: z.infer<typeof started>[] = [];
    let cursor = '';
    for (const prefix of ['Svc', 'Upstash', 'Svc']) {
      const more = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { status, body } = await send('POST', `/resume?${query}${more}`, {
        [`${prefix}-Retries`]: '1',
        [`${prefix}-Label`]: 'resumed',
        [`${prefix}-Flow-Control-Key`]: 'resumed',
        [`${prefix}-Flow-Control-Value`]: 'parallelism=2',
      });
      expect(status).toBe(200);
      const page = many.parse(body);
      runs.push(...page.workflowRuns);
      ({ cursor } = page);
    }
    expect(cursor).toBe('');
    expect(new Set(runs.map(({ workflowRunId }) => workflowRunId)).size).toBe(5);
    expect(await returnedOf(workflow, 5)).toEqual(Array.from({ length: 5 }, () => whole));
    await deadLettersOf(workflow.url, 0);
  });

  it('are shown, resumed and restarted one by one, and are then gone', async () => {
    const workflow = brokenWorkflow();
    await trigger(workflow.url);
    await trigger(workflow.url);
    const [one, other] = await deadLettersOf(workflow.url, 2);
    const shown = await send('GET', `/${one?.dlqId}`);
    expect(shown).toMatchObject({
      status: 200,
      body: { dlqId: one?.dlqId, workflowRunId: one?.workflowRunId, body: 'the payload' },
    });
    workflow.state.isMended = true;
    const resumed = await send('POST', `/resume/${one?.dlqId}`);
    expect(started.parse(resumed.body).workflowRunId).toMatch(/^wfr_/);
    const restarted = await send('POST', `/restart/${other?.dlqId}`);
    expect(started.parse(restarted.body).workflowRunId).toMatch(/^wfr_/);
    await returnedOf(workflow, 2);
    expect((await send('GET', `/${one?.dlqId}`)).status).toBe(404);
    expect((await send('DELETE', `/${one?.dlqId}`)).status).toBe(404);
    expect((await send('POST', `/restart/${one?.dlqId}`)).status).toBe(404);
    expect((await send('POST', '/resume?label=')).status).toBe(400);
    expect((await send('POST', '/resume', { 'Svc-Retries': 'many' })).status).toBe(400);
  });
});
