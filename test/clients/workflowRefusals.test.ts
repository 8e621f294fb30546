import type { WorkflowContext } from '@upstash/workflow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeAccount, makeAccount } from '../support/accounts.ts';
import { startWorkflowApp, type Route, type WorkflowApp } from '../support/workflowApp.ts';

let app: WorkflowApp;
beforeAll(async () => {
  app = await startWorkflowApp();
});
afterAll(() => app.close());

async function outcomeOf(in_: WorkflowApp, route: Route, retries = 3) {
  const failed: string[] = [];
  const url = in_.serve(route, {
    failureFunction: ({ failResponse }) => {
      failed.push(failResponse);
      return 'told';
    },
  });
  const { workflowRunId } = await in_.client.trigger({ url, retries });
  const run = await in_.logged(
    workflowRunId,
    ({ workflowState, failureFunction }) =>
      workflowState === 'RUN_SUCCESS' || failureFunction?.state === 'CALLBACK_SUCCESS',
  );
  return { run, failed };
}

// The client’s types refuse some of these, but applications in plain JavaScript may send them.
type Loose = WorkflowContext & {
  readonly call: (name: string, settings: object) => Promise<{ readonly status: number }>;
};

describe('a call of the published client', () => {
  it('may have a body that is not text, and numbers as headers', async () => {
    const asked: unknown[] = [];
    const third = app.answer(async (request) => {
      asked.push(await request.json(), request.headers.get('x-number'));
      return new Response('{}');
    });
    const { run } = await outcomeOf(app, async (context) => {
      const settings = { url: third, method: 'POST', body: { a: 1 }, headers: { 'x-number': 7 } };
      await (context as Loose).call('third', settings);
    });
    expect([run.workflowState, ...asked]).toEqual(['RUN_SUCCESS', { a: 1 }, '7']);
  });
});

describe('a refused step of the published client', () => {
  it.each<[what: string, step: (context: WorkflowContext) => Promise<unknown>, says: RegExp]>([
    ['a call elsewhere', (context) => context.call('x', { url: 'ftp://x' }), /destination is \\"ftp:/],
    ['too many retries', (context) => context.call('x', { url: app.origin, retries: 1e6 }), /max_retries/],
    ['a long event', (context) => context.waitForEvent('x', 'e'.repeat(300)), /id of the event/],
    ['a notification of it', (context) => context.notify('x', 'e'.repeat(300), 1), /id of the event/],
    ['a long sleep', (context) => context.sleep('x', '9000d'), /max_delay/],
    ['a long name', (context) => context.run('x'.repeat(2_000), () => 1), /stepName/],
  ])('fails its run and is told to its failure function: %s', async (_what, step, says) => {
    const { run, failed } = await outcomeOf(app, step);
    expect(run.workflowState).toBe('RUN_FAILED');
    expect(failed).toEqual([expect.stringMatching(says)]);
  });

  it.each([
    ['slashes in a row', 'a//b'],
    ['percent signs', '50%zz'],
  ])('ends its run because of an event id: with %s', async (_what, eventId) => {
    const { run } = await outcomeOf(app, async (context) => {
      const [{ eventData }] = await Promise.all([
        context.waitForEvent('wait', eventId, { timeout: '1m' }),
        context.notify('notify', eventId, 'news', context.workflowRunId),
      ]);
      return eventData;
    });
    expect([run.workflowState, run.workflowRunResponse]).toEqual(['RUN_SUCCESS', '"news"']);
  });

  it('because of the daily limit fails its delivery, which is retried, and the run ends with its last attempt', async () => {
    const account = await makeAccount();
    const limited = await startWorkflowApp(account);
    const { run, failed } = await outcomeOf(
      limited,
      async (context) => {
        await changeAccount(account.id, { max_requests_per_day: 1, max_requests_per_day_hard: 1 });
        await context.run('one', () => 1);
        await context.run('two', () => 2);
      },
      0,
    );
    await limited.close();
    expect(run.workflowState).toBe('RUN_FAILED');
    expect(failed).toEqual([expect.stringContaining('Exceeded daily rate limit')]);
  });
});
