import { Client } from '@upstash/workflow';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Header } from '../../../lambdas/shared/headers.ts';
import type { Delivery } from '../../support/receiver.ts';
import { openRunFixture, resultOf, type RunFixture } from '../../support/runFixture.ts';
import { endpoint } from '../../support/startSettings.ts';
import { useFixture } from '../../support/useFixture.ts';

let runFixture: RunFixture;
let client: Client;
useFixture(async (fixture) => {
  runFixture = await openRunFixture(fixture);
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

describe('the published client', () => {
  it('reads the log of runs with each of its filters', async () => {
    const { createdAt, messageId } = await start('wfr_read');
    const filters = [
      {},
      { workflowRunId: 'wfr_read', workflowCreatedAt: createdAt },
      { workflowUrl: [endpoint, 'https://other.example/'] },
      { label: ['none', 'two'], flowControlKey: 'fc', callerIp: '192.0.2.7' },
      { host: 'flow.example', path: ['/orders'], fromDate: createdAt, toDate: createdAt },
      { messageId, state: 'RUN_STARTED' as const },
    ];
    for (const filter of filters) {
      const { runs, cursor } = await client.logs({ count: 5, filter });
      expect(cursor).toBe('');
      expect(runs.map(({ workflowRunId }) => workflowRunId)).toEqual(['wfr_read']);
      const [run] = runs;
      expect(run).toMatchObject({ workflowState: 'RUN_STARTED', label: 'one', labels: ['one', 'two'] });
      expect(run?.steps.map(({ type }) => type)).toEqual(['sequential', 'sequential', 'next']);
      expect(run?.steps[1]?.steps[0]).toMatchObject({ stepName: 'step 1', out: '"charged"' });
    }
    expect(await client.logs({ filter: { state: 'RUN_FAILED' } })).toEqual({ cursor: '', runs: [] });
    expect(await client.cancel({ all: true })).toEqual({ cancelled: 1 });
  });

  it('cancels runs by ids, by filters, and all of them', async () => {
    const cancelled: number[] = [];
    const requests: readonly (() => Promise<{ cancelled: number }>)[] = [
      () => client.cancel('wfr_1'),
      () => client.cancel(['wfr_1', 'wfr_2']),
      () => client.cancel({ filter: { workflowUrl: endpoint.slice(0, -1) } }),
      () => client.cancel({ filter: { workflowUrlStartingWith: endpoint.slice(0, -1), label: ['two'] } }),
      () => client.cancel({ filter: { host: 'flow.example' }, count: 1 }),
      () => client.cancel({ all: true, count: 2 }),
    ];
    for (const request of requests) {
      for (const runId of ['wfr_1', 'wfr_2', 'wfr_3']) await start(runId);
      cancelled.push((await request()).cancelled);
      await client.cancel({ all: true });
    }
    expect(cancelled).toEqual([1, 2, 0, 3, 1, 2]);
  });
});
