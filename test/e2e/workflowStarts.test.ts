import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { call, service } from '../support/publish.ts';
import { sizeOf } from '../support/sample.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { clockStage } from '../support/clockStage.ts';
import type { Stage } from '../support/stage.ts';

const rounds = sizeOf({ ordinary: 4, thorough: 60 });
const afterwardsMs = 3 * 60_000;

const answer = z.object({ workflowRunId: z.string(), workflowCreatedAt: z.number() });

describe.runIf(service.target === 'local')('simultaneous starts of one run', () => {
  const receiver = useReceiver();
  let stage: Stage;
  beforeAll(async () => {
    stage = await clockStage();
  });

  const starting = {
    'Upstash-Workflow-Init': 'true',
    'Upstash-Workflow-Sdk-Version': '1',
    'Upstash-Feature-Set': 'LazyFetch,InitialBody,WF_TriggerOnConfig',
  };
  const ways = {
    trigger: (url: string, headers: object) => [`/v2/trigger/${url}`, headers, ''] as const,
    'batch/trigger': (destination: string, headers: object) =>
      ['/v2/batch/trigger', {}, JSON.stringify([{ destination, headers }])] as const,
    publish: (url: string, headers: object) =>
      [`/v2/publish/${url}`, { ...starting, ...headers }, ''] as const,
  };

  it.each((Object.keys(ways) as (keyof typeof ways)[]).map((way) => ({ count: 5, way })))(
    'are one run when $count come by $way, which is delivered once',
    async ({ count, way }) => {
      const inbox = receiver.inbox((_delivery, response) =>
        response
          .writeHead(200, { 'Upstash-Workflow-Sdk-Version': '1', 'Upstash-Workflow-Sdk': 'v1.3.3' })
          .end(),
      );
      const ids: string[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const runId = `wfr_${way.replace('/', '_')}_${round}`;
        ids.push(runId);
        const [path, headers, body] = ways[way](inbox.url, { 'Upstash-Workflow-RunId': runId });
        const init = {
          method: 'POST',
          body,
          headers: { authorization: `Bearer ${stage.token}`, ...headers },
        };
        const answers = await Promise.all(Array.from({ length: count }, () => call(path, init, stage.url)));
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
        const runs = answers.map(({ json }) => answer.parse([json].flat()[0]));
        expect(new Set(runs.map(({ workflowRunId }) => workflowRunId))).toEqual(new Set([runId]));
        expect(new Set(runs.map(({ workflowCreatedAt }) => workflowCreatedAt)).size).toBe(1);
      }
      await stage.advance(afterwardsMs);
      expect(inbox.deliveries.map(({ headers }) => headers['upstash-workflow-runid']).toSorted()).toEqual(
        ids.toSorted(),
      );
    },
  );
});
