import type { WorkflowContext } from '@upstash/workflow';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { hookEvent } from '../../../../lambdas/workflow/waiting.ts';
import { rehearse, type Rehearsal } from '../../../support/workflowRehearsal.ts';

/** The unchanged published client, with the domain’s rules as its server. */

let rehearsal: Rehearsal;
beforeEach(async () => {
  // The client logs each failure to the console.
  for (const method of ['error', 'warn'] as const) vi.spyOn(console, method).mockReturnValue();
  rehearsal = await rehearse();
});
afterEach(() => rehearsal.close());

describe('a run of the published client', () => {
  it('executes a sequence of steps, and ends with its return value', async () => {
    const url = rehearsal.endpoints.serve('sequence', async (context) => {
      const one = await context.run('one', () => ({ seen: context.requestPayload }));
      // Documented, but missing in the types.
      await context.sleep('nap', '1w' as '7d');
      await context.sleepUntil('until', 1_790_000_000.25);
      const two = await context.run(
        'two',
        () => `${context.headers.get('x-tenant')} ${context.labels.join()}`,
      );
      return { one, two, createdAt: context.workflowRunCreatedAt };
    });
    const runId = await rehearsal.trigger(url, {
      headers: { 'X-Tenant': 'acmé' },
      label: ['a', 'b'],
      retries: 2,
    });
    const run = rehearsal.run(runId);
    expect(run.state).toBe('RUN_SUCCESS');
    expect(JSON.parse(run.response ?? '')).toEqual({
      one: { seen: { n: 1 } },
      two: 'acmé a,b',
      createdAt: run.createdAt,
    });
    expect(rehearsal.stepsOf(runId)).toEqual([
      'result 1 one',
      'result 2 nap',
      'result 3 until',
      'result 4 two',
    ]);
    expect(rehearsal.endpoints.finishes()).toEqual(Array(5).fill('list 200 success'));
    expect(rehearsal.submitted.map(({ config }) => config.get('delay') ?? config.get('not-before'))).toEqual([
      undefined,
      undefined,
      ['1w'],
      ['1790000000'],
      undefined,
    ]);
  });

  it('runs a parallel group with steps of all kinds, in any order', async () => {
    rehearsal.thirdParty = (target) => ({
      status: 201,
      headers: [['content-type', 'application/json']],
      body: JSON.stringify({ target, ü: '✓' }),
    });
    const url = rehearsal.endpoints.serve('parallel', async (context) => {
      await context.run('before', () => 0);
      const [run, , call, wait] = await Promise.all([
        context.run('run', () => 'ran'),
        context.sleep('sleep', 5),
        context.call('call', { url: 'https://third.example/x', method: 'POST', body: 'asked' }),
        context.waitForEvent('wait', 'ready', { timeout: 1.5 }),
      ]);
      return { run, call: call.body, status: call.status, wait };
    });
    const runId = await rehearsal.trigger(url);
    expect(rehearsal.run(runId).state).toBe('RUN_STARTED');
    rehearsal.wake('ready', Buffer.from('{"by":"us"}'));
    await rehearsal.settle();
    expect(rehearsal.run(runId).state).toBe('RUN_SUCCESS');
    expect(JSON.parse(rehearsal.run(runId).response ?? '')).toEqual({
      run: 'ran',
      call: { target: 'https://third.example/x', ü: '✓' },
      status: 201,
      wait: { eventData: { by: 'us' }, timeout: false },
    });
    expect(rehearsal.stepsOf(runId).toSorted()).toEqual([
      'plan 2 run',
      'plan 3 sleep',
      'plan 4 call',
      'plan 5 wait',
      'result 1 before',
      'result 2 run',
      'result 3 sleep',
      'result 4 call',
      'result 5 wait',
    ]);
    expect(rehearsal.endpoints.made.every(({ status }) => status < 300)).toBe(true);
  });

  it('that is delivered twice records each step once', async () => {
    let runs = 0;
    const url = rehearsal.endpoints.serve('twice', async (context) => {
      await context.run('one', () => (runs += 1));
      await Promise.all([context.run('two', () => 2), context.run('three', () => 3)]);
    });
    const runId = await rehearsal.trigger(url);
    const run = rehearsal.run(runId);
    const recorded = rehearsal.stepsOf(runId);
    run.state = 'RUN_STARTED';
    const first = rehearsal.endpoints.made.filter(({ kind }) => kind === 'list').slice(0, 4);
    for (const [index, { headers, body }] of first.entries()) {
      await rehearsal.endpoints.deliver('list', run, url, headers, body, run.entries[index]?.messageId ?? '');
    }
    await rehearsal.settle();
    expect(runs).toBe(2);
    expect(rehearsal.stepsOf(runId)).toEqual(recorded);
  });

  it('waits for an event until its timeout', async () => {
    const url = rehearsal.endpoints.serve('late', async (context) =>
      context.waitForEvent('wait', 'never/comes', { timeout: '1s' }),
    );
    const runId = await rehearsal.trigger(url);
    rehearsal.wake('never/comes', undefined);
    rehearsal.wake('never/comes', Buffer.from('too late'));
    await rehearsal.settle();
    expect(rehearsal.run(runId)).toMatchObject({ state: 'RUN_SUCCESS', response: '{"timeout":true}' });
  });

  it('hands a third party’s answer only to the endpoint, with the headers of the run', async () => {
    const seen: (string | null)[] = [];
    const url = rehearsal.endpoints.serve('call', async (context) => {
      seen.push(context.headers.get('x-tenant'));
      const { status, body } = await context.call('cällö', {
        url: 'https://third.example/',
        headers: { 'X-Own': 'yes', Connection: 'close', 'Upstash-Delay': '1s' },
        retries: 2,
        timeout: 30,
      });
      return { status, body };
    });
    const runId = await rehearsal.trigger(url, { headers: { 'X-Tenant': 'acme' } });
    expect(JSON.parse(rehearsal.run(runId).response ?? '')).toEqual({ status: 200, body: '' });
    expect(new Set(seen)).toEqual(new Set(['acme']));
    expect(rehearsal.endpoints.last('call')?.headers).toEqual([
      ['upstash-delay', '1s'],
      ['x-own', 'yes'],
      ['content-type', 'application/json'],
    ]);
    expect(rehearsal.endpoints.finishes()).toContain('callResult 200 fromCallback');
    expect(rehearsal.submitted.find(({ message }) => message.kind === 'call')?.message).toMatchObject({
      runId,
      features: new Set(['InitialBody', 'WF_NoDelete']),
      step: { stepId: 1, stepName: 'cällö', stepType: 'Call', concurrent: 1 },
    });
  });

  it.each([
    [
      { status: 503, headers: [], body: 'busy' },
      { status: 503, body: 'busy' },
    ],
    [
      { status: 0, error: 'It took too long.', headers: [], body: '' },
      { status: 0, body: 'It took too long.' },
    ],
  ])(
    'continues after the last failure of a third party, even before its last retry: %j',
    async (answer, told) => {
      rehearsal.thirdParty = () => answer;
      const url = rehearsal.endpoints.serve('busy', async (context) => {
        const { status, body } = await context.call('ask', { url: 'https://third.example/', retries: 2 });
        return { status, body };
      });
      const runId = await rehearsal.trigger(url);
      expect(JSON.parse(rehearsal.run(runId).response ?? '')).toEqual(told);
    },
  );

  it.each([
    ['returns', () => Promise.resolve('child'), { body: 'child', isFailed: false, isCanceled: false }],
    ['returns nothing', () => Promise.resolve(), { isFailed: false, isCanceled: false }],
    [
      'fails',
      async (context: WorkflowContext) =>
        context.run('broken', () => {
          throw new Error('broken');
        }),
      { isFailed: true, isCanceled: false },
    ],
    [
      'is cancelled',
      async (context: WorkflowContext) => {
        await context.run('before', () => 1);
        await context.cancel();
      },
      { isFailed: false, isCanceled: true },
    ],
  ] as const)('invokes another run, which %s', async (_name, end, result) => {
    const payloads: unknown[] = [];
    const child = async (context: WorkflowContext): Promise<unknown> => {
      payloads.push(context.requestPayload);
      await context.run('child step', () => 1);
      return end(context);
    };
    rehearsal.endpoints.serve('flows/child', child);
    const url = rehearsal.endpoints.serve('flows/parent', async (context) =>
      context.invoke('ask', {
        workflow: { routeFunction: child, options: {}, workflowId: 'child' },
        body: { for: 'child' },
        workflowRunId: 'of-child',
      }),
    );
    const runId = await rehearsal.trigger(url);
    expect(rehearsal.run('wfr_of-child').url).toBe('https://endpoint.example/flows/child');
    expect(rehearsal.run(runId).state).toBe('RUN_SUCCESS');
    expect(JSON.parse(rehearsal.run(runId).response ?? '')).toEqual(result);
    expect(payloads[0]).toEqual({ for: 'child' });
    const invoke = rehearsal.submitted.find(({ message }) => message.kind === 'invoke');
    expect(invoke?.message).toMatchObject({ runId: 'wfr_of-child', invokeDepth: 1 });
  });

  it('receives a webhook’s request unchanged', async () => {
    const url = rehearsal.endpoints.serve('hook', async (context) => {
      const webhook = await context.createWebhook('make');
      const { request, timeout } = await context.waitForWebhook('wait', webhook, '1h');
      return {
        timeout,
        url: request?.url,
        webhook: webhook.webhookUrl,
        body: await request?.text(),
        header: request?.headers.get('x-sent'),
      };
    });
    const runId = await rehearsal.trigger(url);
    const [wait] = rehearsal.waits;
    const path = `/v2/workflows/hooks/account/${runId}/${wait?.eventId}?a=%20b`;
    const headers = [
      ['x-sent', 'by the sender'],
      ['content-length', '4'],
      ['x-amzn-trace-id', 'gateway'],
    ] as const;
    const body = Buffer.from('grüß');
    const event = hookEvent({
      method: 'POST',
      headers,
      body,
      proto: 'https',
      host: 'hooks.example',
      url: path,
    });
    rehearsal.wake(wait?.eventId ?? '', event);
    await rehearsal.settle();
    expect(JSON.parse(rehearsal.run(runId).response ?? '')).toMatchObject({
      timeout: false,
      url: `https://hooks.example${path}`,
      body: 'grüß',
      header: 'by the sender',
    });
    expect(event.toString()).not.toContain('gateway');
  });

  it('sends and receives notifications of other runs', async () => {
    const waiting = rehearsal.endpoints.serve('waiting', async (context) =>
      context.waitForEvent('wait', 'greeting', { timeout: '1h' }),
    );
    const waitingId = await rehearsal.trigger(waiting);
    const telling = rehearsal.endpoints.serve('telling', async (context) => {
      const { notifyResponse } = await context.notify('tell', 'greeting', { hello: true });
      return notifyResponse.length;
    });
    const tellingId = await rehearsal.trigger(telling);
    expect(rehearsal.run(tellingId).response).toBe('1');
    expect(JSON.parse(rehearsal.run(waitingId).response ?? '')).toEqual({
      eventData: { hello: true },
      timeout: false,
    });
  });
});
