import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { startWorkflowApp, type WorkflowApp } from '../support/workflowApp.ts';

/** Texts are as large as a message may be, or larger. */

let app: WorkflowApp;
beforeAll(async () => {
  app = await startWorkflowApp();
});
afterAll(() => app.close());

const mebi = 1_024 * 1_024;

describe('the answer to a call', () => {
  const asking = (answer: () => string, body?: string): string => {
    const third = app.answer(() => new Response(answer()));
    return app.serve(async (context) => {
      const { status, body: got } = await context.call<string>('third', { url: third, method: 'POST', body });
      return { status, length: got.length, end: got.slice(-300) };
    });
  };
  const resultOf = async (url: string): Promise<unknown> => {
    const { workflowRunId } = await app.client.trigger({ url });
    const run = await app.logged(workflowRunId);
    expect(run.workflowState).toBe('RUN_SUCCESS');
    return JSON.parse(run.workflowRunResponse ?? '');
  };

  it('is complete if it fits, even for a call with a large body', async () => {
    const text = `${'x'.repeat(3 * mebi - 2_000)}end`;
    expect(await resultOf(asking(() => text, 'b'.repeat(2 * mebi)))).toEqual({
      status: 200,
      length: text.length,
      end: text.slice(-300),
    });
  });

  it.each([
    ['that is too long', 'x'.repeat(3 * mebi), 3 * mebi],
    ['that is too long once it is JSON', '"'.repeat(mebi), mebi],
    ['that is longer than is read', 'x'.repeat(5 * mebi), 4 * mebi],
  ])('%s fails the call, with its length and the limit', async (_name, text, size) => {
    const sentence = new RegExp(
      `^The answer has ${size} bytes.*, and the result of its step would have \\d{7} with it; allowed are 4194304 \\(max_message_size\\)\\.$`,
    );
    expect(await resultOf(asking(() => text))).toMatchObject({
      status: 0,
      end: expect.stringMatching(sentence) as unknown,
    });
  });
});

interface Told {
  readonly failStatus: number;
  readonly failResponse: string;
  readonly failStack: string;
  readonly payload: number;
  readonly tenant: string | null;
}

describe('a failure function', () => {
  /** Starts a run that fails. @returns what its failure function gets each time */
  const failing = async (
    payload: string,
    message: string,
    refusals = 0,
  ): Promise<{ told: Told[]; runId: string }> => {
    const told: Told[] = [];
    const url = app.serve<string>(
      async (context) => {
        await context.run('fail', () => {
          throw new Error(message);
        });
      },
      {
        failureFunction: ({ context, failStatus, failResponse, failStack }) => {
          const tenant = context.headers.get('x-tenant');
          const { length } = context.requestPayload;
          told.push({ failStatus, failResponse, failStack, payload: length, tenant });
          if (told.length <= refusals) throw new Error('not now');
        },
      },
    );
    const { workflowRunId: runId } = await app.client.trigger({
      url,
      body: payload,
      retries: 0,
      headers: { 'x-tenant': 'acme' },
    });
    await app.logged(
      runId,
      ({ failureFunction }) =>
        failureFunction?.state === (refusals === 0 ? 'CALLBACK_SUCCESS' : 'CALLBACK_FAIL'),
    );
    return { told, runId };
  };

  it('of a run with a large payload gets the error and the whole payload', async () => {
    const { told } = await failing('p'.repeat(4 * mebi - 10), 'no money');
    expect(told).toMatchObject([
      { failStatus: 500, failResponse: 'no money', payload: 4 * mebi - 10, tenant: 'acme' },
    ]);
    expect(told[0]?.failStack).toMatch(/^Error: no money/);
  });

  it('gets the beginning of a long error, marked as shortened', async () => {
    const { told } = await failing('p', 'é'.repeat(1.5 * mebi));
    expect(told).toMatchObject([{ failStatus: 500, payload: 1 }]);
    expect(told[0]?.failResponse).toMatch(/^é{500000,} … \(cut: the whole has 3145728 bytes\)$/);
  });

  it('that runs again gets the error again, even if only its beginning was kept', async () => {
    const { told, runId } = await failing('p', `broken: ${'b'.repeat(50_000)}`, 1);
    expect(told[0]?.failResponse).toHaveLength(50_008);
    const { messages } = await app.client.dlq.list({ filter: { workflowRunId: runId } });
    await app.client.dlq.retryFailureFunction({ dlqId: messages[0]?.dlqId ?? '' });
    await eventually(
      () => Promise.resolve(told),
      ({ length }) => length === 2,
    );
    expect(told[1]?.failResponse).toMatch(/^broken: b{10000,} … \(cut: the end is missing\)$/);
  });
});
