import { expect, vi } from 'vitest';
import * as z from 'zod/mini';
import { limitForHangsMs } from './limits.ts';
import type { Answer } from './publish.ts';

type Ask = (
  method: string,
  path: string,
  init?: { readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown },
) => Promise<Answer>;

const page = z.object({
  messages: z.array(z.object({ dlqId: z.string(), failureFunctionState: z.optional(z.string()) })),
});

/** Calls the operations on failed runs, each with a run that fits. */
async function askOfDeadLetters(ask: Ask, failing: string, held: string): Promise<void> {
  const start = (headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    ask('POST', `/v2/trigger/${failing}`, {
      headers: { 'svc-retries': '0', 'svc-forward-x-tenant': 'acme', 'svc-label': 'nightly', ...headers },
      body: { order: 1 },
    });
  const ofThese = `workflowUrl=${encodeURIComponent(failing)}`;
  /** Waits until this many failure functions are in a state. Returns their dead letters. */
  const failed = (state: string, count: number): Promise<readonly string[]> =>
    vi.waitFor(
      async () => {
        const { json } = await ask('GET', `/v2/workflows/dlq?${ofThese}&failureFunctionState=${state}`);
        const ids = page.parse(json).messages.map(({ dlqId }) => dlqId);
        expect(ids.length).toBeGreaterThanOrEqual(count);
        return ids;
      },
      { timeout: limitForHangsMs, interval: 200 },
    );

  await start({ 'svc-failure-callback': held });
  const [telling = ''] = await failed('CALLBACK_INPROGRESS', 1);
  await ask('DELETE', `/v2/workflows/dlq/callback/${telling}`);
  await ask('DELETE', `/v2/workflows/dlq/${telling}`);

  for (let count = 0; count < 3; count += 1) await start();
  const [first = '', second = '', third = ''] = await failed('CALLBACK_FAIL', 3);
  await ask('GET', `/v2/workflows/dlq/count?${ofThese}`);
  await ask('GET', `/v2/workflows/dlq/${first}`);
  await ask('POST', `/v2/workflows/dlq/callback/${first}`);
  await ask('POST', `/v2/workflows/dlq/resume/${second}`, { headers: { 'svc-retries': '1' } });
  await ask('POST', `/v2/workflows/dlq/restart/${third}`, { headers: { 'svc-delay': '10m' } });
  await ask('POST', `/v2/workflows/dlq/resume?${ofThese}&count=1`);
  await ask('POST', `/v2/workflows/dlq/restart?dlqIds=${first}`);
  await ask('DELETE', `/v2/workflows/dlq?${ofThese}`);
}

/**
 * Calls the operations on runs.
 *
 * @param endpoints one that answers 200, one that answers 500, and one that does not answer
 */
export async function askWorkflows(
  ask: Ask,
  name: string,
  endpoints: { readonly ok: string; readonly failing: string; readonly held: string },
): Promise<void> {
  const later = { 'svc-delay': '10m' };
  const [one, other] = [`wfr_${name}`, `wfr_${name}-other`];
  await ask('POST', `/v2/trigger/${endpoints.ok}`, {
    headers: { ...later, 'svc-workflow-runid': one },
    body: { order: 1 },
  });
  await ask('GET', `/v2/workflows/runs/${one}`);
  await ask('GET', '/v2/workflows/runs/count');
  await ask('GET', `/v2/workflows/logs?workflowRunId=${one}`);
  await ask('GET', '/v2/workflows/events?groupBy=workflowRunId');
  await ask('DELETE', `/v2/workflows/runs/${one}`);
  await ask('POST', '/v2/batch/trigger', {
    body: [{ destination: endpoints.ok, headers: { ...later, 'svc-workflow-runid': other } }],
  });
  await ask('DELETE', `/v2/workflows/runs?workflowRunIds=${other}`);
  await askOfDeadLetters(ask, endpoints.failing, endpoints.held);
}
