import { WorkflowNonRetryableError, WorkflowRetryAfterError, type WorkflowContext } from '@upstash/workflow';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { outcomeOf } from '../../../../lambdas/delivery/outcome.ts';
import { wrongDestination } from '../../../../lambdas/workflow/delivery/endpointAnswer.ts';
import { retryAfterOf } from '../../../../lambdas/destination/retryAfter.ts';
import { rehearse, type Rehearsal } from '../../../support/workflowRehearsal.ts';

/** The unchanged published client, with the domain’s rules as its server. */

let rehearsal: Rehearsal;
beforeEach(async () => {
  // The client logs each failure to the console.
  for (const method of ['error', 'warn'] as const) vi.spyOn(console, method).mockReturnValue();
  rehearsal = await rehearse();
});
afterEach(() => rehearsal.close());

describe('a run that fails', () => {
  const failing = async (context: WorkflowContext): Promise<void> => {
    await context.run('fïne', () => 1);
    await context.run('bröken', () => {
      throw new Error('it broke');
    });
  };

  it('reports the reason to its failure function, with its original payload and headers', async () => {
    const told: unknown[] = [];
    const url = rehearsal.endpoints.serve('failing', failing, {
      failureFunction: ({ context, failStatus, failResponse, failHeaders }) => {
        const { requestPayload, workflowRunId, labels, url, workflowRunCreatedAt } = context;
        const tenant = context.headers.get('x-tenant');
        told.push({ requestPayload, workflowRunId, labels, url, tenant, workflowRunCreatedAt });
        told.push({ failStatus, failResponse, step: failHeaders['Upstash-Error-Step-Name'] });
        return 'dealt with';
      },
    });
    const headers = { 'X-Tenant': 'acme', 'Upstash-Workflow-Is-Failure': 'true' };
    const runId = await rehearsal.trigger(url, { headers, label: 'billing' });
    expect(rehearsal.run(runId).state).toBe('RUN_FAILED');
    const createdAt = rehearsal.run(runId).createdAt;
    expect(told).toEqual([
      {
        requestPayload: { n: 1 },
        workflowRunId: runId,
        labels: ['billing'],
        url,
        tenant: 'acme',
        workflowRunCreatedAt: createdAt,
      },
      { failStatus: 500, failResponse: 'it broke', step: ['bröken'] },
    ]);
    expect(rehearsal.endpoints.last('failureRequest')).toMatchObject({
      status: 200,
      answer: '{"result":"dealt with"}',
    });
  });

  it('does so even if the user’s headers say that its client is unknown', async () => {
    const url = rehearsal.endpoints.serve('marked', failing, { failureFunction: () => 'dealt with' });
    const runId = await rehearsal.trigger(url, { headers: { 'Upstash-Workflow-Unknown-Sdk': 'true' } });
    expect(rehearsal.submitted[1]?.message).toMatchObject({ kind: 'start', isUpgrade: true, runId });
    expect(rehearsal.endpoints.last('failureRequest')).toMatchObject({
      status: 200,
      answer: '{"result":"dealt with"}',
    });
  });

  it('gets the answer that there is none from an endpoint without a failure function', async () => {
    await rehearsal.trigger(rehearsal.endpoints.serve('none', failing));
    expect(rehearsal.endpoints.last('failureRequest')?.answerHeaders).toContainEqual([
      'upstash-workflow-failure-callback-notfound',
      'true',
    ]);
  });

  it('takes 412 as its failure, with the reason, and 400 as an end made by another request', async () => {
    const url = rehearsal.endpoints.serve('refused', async (context) => {
      await context.run('one', () => 1);
    });
    rehearsal.refusal = (body) =>
      body.includes('stepName') ? { status: 412, error: 'The delay is too long.' } : undefined;
    const runId = await rehearsal.trigger(url);
    expect(rehearsal.run(runId).state).toBe('RUN_FAILED');
    expect(rehearsal.endpoints.last('list')).toMatchObject({ status: 489 });
    expect(rehearsal.endpoints.last('list')?.answer).toContain('The delay is too long.');

    rehearsal.refusal = (body) =>
      body.includes('stepName') ? { status: 400, error: 'It has ended.' } : undefined;
    await rehearsal.trigger(url);
    expect(rehearsal.endpoints.finishes().at(-1)).toBe('list 200 success');
  });
});

describe('the answers of an endpoint', () => {
  it('identify it as a workflow from the first one on', async () => {
    const runId = await rehearsal.trigger(
      rehearsal.endpoints.serve('known', (context) => context.run('one', () => 1)),
    );
    const [first] = rehearsal.endpoints.made;
    const { prefix, features } = rehearsal.run(runId);
    const answer = { status: first?.status ?? 0, headers: first?.answerHeaders ?? [] };
    expect(features).toContain('WF_DetectTrigger');
    for (const isUnknownClient of [true, false]) {
      expect(wrongDestination({ prefix, features, isUnknownClient }, answer)).toBeUndefined();
      expect(
        wrongDestination({ prefix, features, isUnknownClient }, { ...answer, headers: [] }),
      ).toBeDefined();
    }
  });

  it.each([
    [7, 7_000],
    ['5m', 300_000],
    ['1d', 86_400_000],
  ] as const)('that ask for a retry after %j are read', async (retryAfter, waitMs) => {
    const url = rehearsal.endpoints.serve('later', (context) =>
      context.run('limited', () => {
        throw new WorkflowRetryAfterError('not now', retryAfter);
      }),
    );
    await rehearsal.trigger(url);
    expect(rehearsal.endpoints.last('list')?.status).toBe(429);
    const headers = rehearsal.endpoints.last('list')?.answerHeaders ?? [];
    expect(retryAfterOf({ status: 429, headers }, 1_790_000_000_000)).toBe(1_790_000_000_000 + waitMs);
  });

  it('that forbid retries are recognized by their status and header', async () => {
    const url = rehearsal.endpoints.serve('never', (context) =>
      context.run('broken', () => {
        throw new WorkflowNonRetryableError('never');
      }),
    );
    await rehearsal.trigger(url);
    const answer = rehearsal.endpoints.last('list');
    expect(
      await outcomeOf(
        { maxRetries: 3, prefix: 'Upstash' },
        {},
        0,
        { status: answer?.status ?? 0, headers: answer?.answerHeaders ?? [], body: new Uint8Array() },
        0,
      ),
    ).toEqual({ state: 'FAILED' });
  });
});

describe('a start without a client', () => {
  it('is upgraded by the endpoint, and keeps its id and its first entry', async () => {
    const url = rehearsal.endpoints.serve('plain', async (context) =>
      context.run('one', () => [context.requestPayload, context.headers.get('x-tenant')]),
    );
    rehearsal.startWithoutClient('wfr_plain', url, '{"by":"curl"}', [['x-tenant', 'acme']]);
    await rehearsal.settle();
    expect(rehearsal.submitted[0]?.message).toMatchObject({
      kind: 'start',
      isUpgrade: true,
      runId: 'wfr_plain',
    });
    expect(JSON.parse(rehearsal.run('wfr_plain').response ?? '')).toEqual([{ by: 'curl' }, 'acme']);
  });

  it('by a direct call of the endpoint forwards all its headers, and delivers those of the run', async () => {
    const url = rehearsal.endpoints.serve('direct', async (context) =>
      context.run('one', () => [
        context.headers.get('authorization'),
        context.headers.get('accept-encoding'),
        context.headers.get('host'),
      ]),
    );
    const headers = [
      ['authorization', 'Bearer mine'],
      ['host', 'endpoint.example'],
      ['content-length', '0'],
      ['accept-encoding', 'br'],
      ['connection', 'keep-alive'],
      ['upstash-retried', '7'],
    ] as const;
    const made = await rehearsal.endpoints.deliver(
      'list',
      { runId: '', prefix: 'Upstash' },
      url,
      headers,
      Buffer.from(''),
      'msg_direct',
    );
    expect(made.status).toBe(200);
    await rehearsal.settle();
    const [run] = rehearsal.runs.values();
    expect(JSON.parse(run?.response ?? '')).toEqual(['Bearer mine', null, null]);
  });
});

describe('the list', () => {
  it('that is too large is read by the client, up to the delivered entry', async () => {
    const seen: unknown[] = [];
    const url = rehearsal.endpoints.serve('lazy', async (context) => {
      const one = await context.run('one', () => 1);
      seen.push(one);
      return one;
    });
    const runId = await rehearsal.trigger(url);
    const run = rehearsal.run(runId);
    run.state = 'RUN_STARTED';
    seen.length = 0;
    const headers = rehearsal.endpoints.last('list')?.headers ?? [];
    const second = run.entries[1]?.messageId ?? '';
    const made = await rehearsal.endpoints.deliver('list', run, url, headers, Buffer.from(''), second);
    expect(made.status).toBe(200);
    expect(seen).toEqual([1]);
    const again = await rehearsal.endpoints.deliver('list', run, url, headers, Buffer.from(''), second);
    expect(again.answer).toContain('workflow-already-ended');
  });
});
