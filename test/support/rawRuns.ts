/** Runs with plain servers as endpoints: the test decides what they submit and answer. */
import * as z from 'zod/mini';
import { api, ok, query } from './api.ts';
import { call, type Answer } from './publish.ts';
import type { Inbox } from './receiver.ts';

export interface RawRun {
  readonly runId: string;
  readonly createdAt: number;
  readonly url: string;
}

interface Owner {
  readonly url: string;
  readonly token: string;
}

const started = z.tuple([z.object({ workflowRunId: z.string(), workflowCreatedAt: z.number() })]);
const features = 'LazyFetch,InitialBody,WF_TriggerOnConfig';

/** Starts a run at an inbox, as a workflow client does. */
export async function startRaw(
  { url, token }: Owner,
  endpoint: Pick<Inbox, 'url'>,
  more: Readonly<Record<string, string>> = {},
): Promise<RawRun> {
  const headers = {
    'upstash-workflow-init': 'true',
    'upstash-workflow-sdk-version': '1',
    'upstash-feature-set': features,
    ...more,
  };
  const body = [{ destination: endpoint.url, headers, body: '{"order":4711}' }];
  const [run] = started.parse(await ok(api('POST', '/v2/batch', { url, token, body })));
  return { runId: run.workflowRunId, createdAt: run.workflowCreatedAt, url: endpoint.url };
}

export interface RawStep {
  readonly stepId: number;
  readonly stepName: string;
  readonly stepType?: string;
  readonly concurrent?: number;
  readonly [more: string]: unknown;
}

const headersOf = (run: Pick<RawRun, 'runId' | 'url'>) => ({
  'Upstash-Workflow-Init': 'false',
  'Upstash-Workflow-RunId': run.runId,
  'Upstash-Workflow-Url': run.url,
  'Upstash-Feature-Set': features,
  'Upstash-Workflow-Sdk-Version': '1',
});

/** Submits steps, as an endpoint does during a delivery. */
export const submitRaw = (
  { url, token }: Owner,
  run: Pick<RawRun, 'runId' | 'url'>,
  steps: readonly RawStep[],
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> =>
  api('POST', '/v2/batch', {
    url,
    token,
    body: steps.map((step) => ({
      destination: run.url,
      headers: { ...headersOf(run), ...headers },
      body: JSON.stringify({ stepType: 'Run', concurrent: 1, out: '1', ...step }),
    })),
  });

/** Calls a third party, as an endpoint does during a delivery. */
export const callRaw = (
  { url, token }: Owner,
  run: Pick<RawRun, 'runId' | 'url'>,
  to: string,
  { stepId, stepName, concurrent = 1 }: RawStep,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> => {
  const forward = 'Upstash-Callback-Forward-Upstash-Workflow-';
  const callback = {
    'Upstash-Workflow-CallType': 'toCallback',
    'Upstash-Callback': run.url,
    'Upstash-Callback-Workflow-Init': 'false',
    'Upstash-Callback-Workflow-RunId': run.runId,
    'Upstash-Callback-Workflow-CallType': 'fromCallback',
    [`${forward}Callback`]: 'true',
    [`${forward}StepId`]: String(stepId),
    [`${forward}StepName`]: stepName,
    [`${forward}StepType`]: 'Call',
    [`${forward}Concurrent`]: String(concurrent),
    [`${forward}ContentType`]: 'application/json',
  };
  const item = { destination: to, headers: { ...headersOf(run), ...callback, ...headers }, body: 'x' };
  return api('POST', '/v2/batch', { url, token, body: [item] });
};

/** Begins a wait, as an endpoint does during a delivery. */
export const waitRaw = (
  { url, token }: Owner,
  run: Pick<RawRun, 'runId' | 'url'>,
  eventId: string,
  step: RawStep,
): Promise<Answer> =>
  call(
    `/v2/wait/${eventId}`,
    {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, ...headersOf(run) },
      body: JSON.stringify({
        url: run.url,
        timeout: '1h',
        timeoutUrl: run.url,
        timeoutHeaders: {},
        step: { stepType: 'Wait', concurrent: 1, ...step },
      }),
    },
    url,
  );

/** Ends a run with a result, as an endpoint does when its function has returned. */
export const returnRaw = ({ url, token }: Owner, { runId }: Pick<RawRun, 'runId'>): Promise<Answer> =>
  call(
    `/v2/workflows/runs/${runId}?cancel=false`,
    { method: 'DELETE', headers: { authorization: `Bearer ${token}` }, body: '"done"' },
    url,
  );

const log = z.object({
  runs: z.array(
    z.looseObject({
      workflowRunId: z.string(),
      workflowState: z.string(),
      hanging: z.optional(z.looseObject({ since: z.number() })),
      requests: z.optional(z.array(z.looseObject({ status: z.number(), submitted: z.array(z.string()) }))),
      resumedAs: z.optional(z.object({ workflowRunId: z.string(), workflowRunCreatedAt: z.number() })),
      resumedFrom: z.optional(z.object({ workflowRunId: z.string(), workflowRunCreatedAt: z.number() })),
      steps: z.array(z.looseObject({ type: z.string(), steps: z.array(z.looseObject({})) })),
    }),
  ),
});

export async function logOfRaw({ url, token }: Owner, { runId }: Pick<RawRun, 'runId'>) {
  const { runs } = log.parse(
    await ok(api('GET', `/v2/workflows/logs${query({ workflowRunId: runId })}`, { url, token })),
  );
  const [run] = runs;
  if (run === undefined) throw new Error(`The run ${runId} is not in the log.`);
  return run;
}

export const runIdOf = ({ headers }: { readonly headers: Readonly<Record<string, string>> }): string =>
  headers['upstash-workflow-runid'] ?? '';
