import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { api, ok, query } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { call } from '../support/publish.ts';
import type { Inbox } from '../support/receiver.ts';
import { service } from '../support/service.ts';
import { useReceiver } from '../support/useReceiver.ts';

/** Sends requests like published clients from a year ago and earlier, with all their headers. */

const receiver = useReceiver();

const post = (path: string, headers: Readonly<Record<string, string>>, body: unknown) =>
  call(path, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.token}`, ...headers },
    body: JSON.stringify(body),
  });

/** Answers each delivery in turn. The last status is repeated. */
const endpointOf = (...statuses: readonly number[]): Inbox =>
  receiver.inbox((_delivery, response, before) => {
    response
      .writeHead(statuses[before] ?? statuses.at(-1) ?? 200, { 'upstash-workflow-sdk-version': '1' })
      .end();
  });

const ids = (): string => `wfr_${Math.random().toString(36).slice(2)}`;

/** Triggers a run like client 0.2: with a publish, without a failure callback. */
async function trigger(url: string, features = 'LazyFetch,InitialBody'): Promise<string> {
  const runId = ids();
  const headers = {
    'content-type': 'application/json',
    'Upstash-Workflow-Init': 'true',
    'Upstash-Workflow-RunId': runId,
    'Upstash-Workflow-Url': url,
    'Upstash-Workflow-Sdk-Version': '1',
    'Upstash-Feature-Set': features,
    'Upstash-Retries': '0',
    'Upstash-Forward-Upstash-Workflow-Sdk-Version': '1',
  };
  await ok(post(`/v2/publish/${url}`, headers, { n: 1 }));
  return runId;
}

/** The headers of a step of 0.2.12 whose endpoint has a failure function with two retries. */
const stepHeaders = (runId: string, url: string, failureUrl: string) => ({
  'content-type': 'application/json',
  'upstash-failure-callback': failureUrl,
  'upstash-failure-callback-forward-content-type': 'application/json',
  'upstash-failure-callback-forward-upstash-message-id': 'msg_0',
  'upstash-failure-callback-forward-upstash-workflow-failure-callback': 'true',
  'upstash-failure-callback-forward-upstash-workflow-is-failure': 'true',
  'upstash-failure-callback-forward-x-user': 'mine',
  'upstash-failure-callback-retries': '2',
  'upstash-failure-callback-workflow-calltype': 'failureCall',
  'upstash-failure-callback-workflow-init': 'false',
  'upstash-failure-callback-workflow-runid': runId,
  'upstash-failure-callback-workflow-url': url,
  'upstash-feature-set': 'LazyFetch,InitialBody',
  'upstash-forward-content-type': 'application/json',
  'upstash-forward-upstash-message-id': 'msg_0',
  'upstash-forward-upstash-workflow-invoke-count': '0',
  'upstash-forward-upstash-workflow-sdk-version': '1',
  'upstash-forward-x-user': 'mine',
  'upstash-method': 'POST',
  'upstash-retries': '0',
  'upstash-telemetry-framework': 'unknown',
  'upstash-telemetry-runtime': 'node@v20.20.2',
  'upstash-telemetry-sdk': '@upstash/workflow@v0.2.7',
  'upstash-workflow-init': 'false',
  'upstash-workflow-runid': runId,
  'upstash-workflow-sdk-version': '1',
  'upstash-workflow-url': url,
});

const stepOf = (stepType: string, more: object = {}) => ({
  stepId: 1,
  stepName: 'one',
  stepType,
  concurrent: 1,
  ...more,
});
const run = z.object({
  runs: z.tuple([
    z.looseObject({
      workflowState: z.string(),
      failureFunction: z.optional(z.looseObject({ state: z.string(), maxRetries: z.number() })),
    }),
  ]),
});
const logOf = async (workflowRunId: string) =>
  run.parse(await ok(api('GET', `/v2/workflows/logs${query({ workflowRunId })}`))).runs[0];

/** The ways in which a step names the failure callback. Each submits the step, so that a delivery follows. */
const ways: readonly (readonly [
  how: string,
  submit: (runId: string, url: string, failureUrl: string) => Promise<void>,
])[] = [
  [
    'a wait',
    async (runId, url, failureUrl) => {
      const eventId = ids();
      await ok(
        post(`/v2/wait/${eventId}`, stepHeaders(runId, url, failureUrl), {
          ...{ url, timeout: '1h', timeoutUrl: url, timeoutHeaders: {}, step: stepOf('Wait') },
        }),
      );
      await ok(post(`/v2/notify/${eventId}`, {}, 'news'));
    },
  ],
  [
    'a call, as 0.2.22 has it',
    async (runId, url, failureUrl) => {
      const third = receiver.inbox();
      const ofResult = Object.entries(stepHeaders(runId, url, failureUrl)).flatMap(([name, value]) =>
        name.startsWith('upstash-failure-callback')
          ? [[name.replace('upstash-', 'upstash-callback-'), value]]
          : [],
      );
      const headers = {
        ...(Object.fromEntries(ofResult) as Record<string, string>),
        'content-type': 'application/json',
        'upstash-callback': url,
        'upstash-callback-feature-set': 'LazyFetch,InitialBody',
        'upstash-callback-forward-upstash-workflow-callback': 'true',
        'upstash-callback-forward-upstash-workflow-concurrent': '1',
        'upstash-callback-forward-upstash-workflow-contenttype': 'application/json',
        'upstash-callback-forward-upstash-workflow-stepid': '1',
        'upstash-callback-forward-upstash-workflow-stepname': 'one',
        'upstash-callback-forward-upstash-workflow-steptype': 'Call',
        'upstash-callback-retries': '0',
        'upstash-callback-workflow-calltype': 'fromCallback',
        'upstash-callback-workflow-init': 'false',
        'upstash-callback-workflow-runid': runId,
        'upstash-callback-workflow-url': url,
        'upstash-feature-set': 'WF_NoDelete,InitialBody',
        'upstash-retries': '0',
        'upstash-workflow-calltype': 'toCallback',
        'upstash-workflow-init': 'false',
        'upstash-workflow-runid': runId,
        'upstash-workflow-url': url,
      };
      await ok(post('/v2/batch', {}, [{ destination: third.url, headers, body: { a: 1 } }]));
    },
  ],
  [
    'an invoke',
    async (runId, url, failureUrl) => {
      const child = endpointOf(200);
      const childId = await invoke(runId, url, child.url, stepHeaders(runId, url, failureUrl));
      await child.received(1);
      await ok(api('DELETE', `/v2/workflows/runs/${childId}?cancel=false`));
    },
  ],
];

/** Clients from 0.2.12 to 1.1.0 do not send the time of the invoker’s start. */
async function invoke(
  runId: string,
  url: string,
  childUrl: string,
  headers: Readonly<Record<string, string>>,
  features = 'LazyFetch,InitialBody',
): Promise<string> {
  const childId = ids();
  await ok(
    post(
      `/v2/publish/${childUrl}`,
      {
        'content-type': 'application/json',
        'upstash-failure-callback-forward-x-i': '1',
        'upstash-feature-set': features,
        'upstash-forward-upstash-workflow-invoke-count': '1',
        'upstash-forward-upstash-workflow-sdk-version': '1',
        'upstash-forward-x-i': '1',
        'upstash-method': 'POST',
        'upstash-workflow-init': 'true',
        'upstash-workflow-invoke': 'true',
        'upstash-workflow-runid': childId,
        'upstash-workflow-sdk-version': '1',
        'upstash-workflow-url': childUrl,
      },
      {
        body: '{"b":1}',
        headers: {
          ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
          'Upstash-Workflow-Runid': [runId],
        },
        workflowRunId: runId,
        workflowUrl: url,
        step: stepOf('Invoke', { stepName: 'i' }),
      },
    ),
  );
  return childId;
}

describe('an old client', () => {
  it.each(ways)('gives the failure callback with %s only, which applies to the run', async (_how, submit) => {
    const endpoint = endpointOf(200, 500);
    const told = endpointOf(200);
    const runId = await trigger(endpoint.url);
    await endpoint.received(1);
    expect((await logOf(runId)).workflowState).toBe('RUN_STARTED');
    await submit(runId, endpoint.url, told.url);
    const [delivery] = await told.received(1);
    expect(delivery?.headers).toMatchObject({
      'upstash-workflow-runid': runId,
      'upstash-workflow-is-failure': 'true',
      'x-user': 'mine',
    });
    expect(JSON.parse(String(delivery?.body))).toMatchObject({ workflowRunId: runId, status: 500 });
    const { workflowState, failureFunction } = await eventually(
      () => logOf(runId),
      (log) => log.failureFunction?.state === 'CALLBACK_SUCCESS',
    );
    expect([workflowState, failureFunction?.maxRetries]).toEqual(['RUN_FAILED', 2]);
  });
});
