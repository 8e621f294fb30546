import { Client } from '@upstash/workflow';
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { fixture, runFixture, useRuns } from '../../support/useRuns.ts';
import type { Header } from '../../../lambdas/shared/headers.ts';
import type { Delivery } from '../../support/receiver.ts';
import { resultOf } from '../../support/runFixture.ts';
import { endpoint } from '../../support/startSettings.ts';

let client: Client;
useRuns(async () => {
  const [{ listRuns }, { cancelRuns }] = await Promise.all([
    import('../../../lambdas/workflow/logs.ts'),
    import('../../../lambdas/workflow/cancelRuns.ts'),
  ]);
  const answerTo = ({ method, target, body }: Delivery): Promise<unknown> => {
    const query: readonly Header[] = [...new URL(target, 'http://service').searchParams];
    return method === 'GET' ? listRuns(fixture.account, query) : cancelRuns(fixture.account, query, body);
  };
  const answer = async (delivery: Delivery, response: ServerResponse): Promise<void> => {
    try {
      response.end(JSON.stringify(await answerTo(delivery)));
    } catch (error) {
      response.writeHead(400).end(String(error));
    }
  };
  const { url } = fixture.receiver.inbox((delivery, response) => void answer(delivery, response));
  client = new Client({ baseUrl: url, token: 'token', enableTelemetry: false, retry: false });
});

const start = async (runId: string) => {
  const settings = { maxRetries: 3, timeoutMs: 30_000, labels: ['one', 'two'], flowControl: { key: 'fc' } };
  const started = await runFixture.start(runId, { details: { settings } });
  await runFixture.submit(runId, [resultOf(1, '"charged"')]);
  return started;
};

it('The published client reads the log and cancels runs, each with its filters', async () => {
  const { createdAt, messageId } = await start('wfr_1');
  for (const filter of [
    {},
    { workflowRunId: 'wfr_1', workflowCreatedAt: createdAt },
    { workflowUrl: [endpoint, 'https://other.example/'] },
    { label: ['none', 'two'], flowControlKey: 'fc', callerIp: '192.0.2.7' },
    { host: 'flow.example', path: ['/orders'], fromDate: createdAt, toDate: createdAt },
    { messageId, state: 'RUN_STARTED' as const },
  ]) {
    expect(await client.logs({ count: 5, filter })).toMatchObject({
      cursor: '',
      runs: [{ workflowRunId: 'wfr_1', steps: [{}, { steps: [{ stepName: 'step 1' }] }, { type: 'next' }] }],
    });
  }
  expect(await client.logs({ filter: { state: 'RUN_FAILED' } })).toEqual({ cursor: '', runs: [] });
  const workflowUrl = endpoint.slice(0, -1);
  for (const [cancel, count] of [
    [() => client.cancel('wfr_1'), 1],
    [() => client.cancel(['wfr_1', 'wfr_2']), 2],
    [() => client.cancel({ filter: { workflowUrl } }), 0],
    [() => client.cancel({ filter: { workflowUrlStartingWith: workflowUrl, label: ['two'] } }), 3],
    [() => client.cancel({ filter: { host: 'flow.example' }, count: 1 }), 1],
    [() => client.cancel({ all: true, count: 2 }), 2],
  ] as const) {
    for (const runId of ['wfr_1', 'wfr_2', 'wfr_3']) await start(runId);
    expect(await cancel()).toEqual({ cancelled: count });
    await client.cancel({ all: true });
  }
});
