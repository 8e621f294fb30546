/** LobeHub's calls: agents' steps, and the workflow pipeline that extracts memories from topics. */
import { deepEqual, equal } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { pending } from './environment.ts';
import { receiveFor, receiver, runOperations } from '../harness.ts';
import { stateOf } from '../service.ts';
import * as qstash from '@upstash/qstash';
import * as workflow from '@upstash/workflow';
import { createWorkflow, serve, serveMany } from '@upstash/workflow/nextjs';

const token = process.env['QSTASH_TOKEN'] ?? '';
const headers = { 'x-extra': 'kept' };
const workflows = new workflow.Client({ token });
const qstashClient = new qstash.Client({ headers, token });
const verifier = new qstash.Receiver({
  currentSigningKey: process.env['QSTASH_CURRENT_SIGNING_KEY'] ?? '',
  nextSigningKey: process.env['QSTASH_NEXT_SIGNING_KEY'] ?? '',
});

interface Topics {
  readonly topicIds: readonly string[];
}

/** Topics per run. */
const batchSize = 4;

/** Serves the pipeline: splits a user's topics into batches, with a run for each batch and each topic. */
function servePipeline(
  extract: (topicId: string, layer: string) => void,
  tellFailure: (topicId: string) => void,
) {
  const batchRuns: string[] = [];
  let base = '';
  const topic = createWorkflow(
    async (context: workflow.WorkflowContext<Topics>) => {
      const { topicIds } = context.requestPayload;
      const [topicId = ''] = topicIds;
      for (const layer of ['cepa', 'identity']) {
        await context.run(`memory:topics:${topicId}:${layer}`, () => {
          try {
            extract(topicId, layer);
          } catch (error) {
            throw new workflow.WorkflowNonRetryableError(String(error));
          }
        });
      }
      return { topicId };
    },
    {
      qstashClient,
      failureFunction: ({ context }) => {
        tellFailure(context.requestPayload.topicIds[0] ?? '');
      },
    },
  );
  const handlers: Readonly<Record<string, (request: Request) => Promise<Response>>> = {
    'process-user-topics': serve<Topics>(
      async (context) => {
        const ids = await context.run('list-topics', () => context.requestPayload.topicIds);
        for (let start = 0; start < ids.length; start += batchSize) {
          await context.run(`process-topics-batch:${start / batchSize}`, async () => {
            const { workflowRunId } = await workflows.trigger({
              url: `${base}/process-topics`,
              body: { topicIds: ids.slice(start, start + batchSize) },
              headers,
              flowControl: { key: 'process-topics.user.1', parallelism: 20 },
            });
            batchRuns.push(workflowRunId);
          });
        }
      },
      { qstashClient },
    ).POST,
    'process-topics': serve<Topics>(
      async (context) => {
        const answers = await Promise.all(
          context.requestPayload.topicIds.map((topicId, index) =>
            context.invoke(`topics:${topicId}:invoke:${index}`, {
              workflow: topic,
              body: { topicIds: [topicId] },
              headers,
              flowControl: { key: `process-topic.user.1.topic.${topicId}`, parallelism: 5 },
            }),
          ),
        );
        await context.run('persona', () => answers.map(({ isFailed }) => isFailed));
      },
      { qstashClient },
    ).POST,
    'process-topic': serveMany({ 'process-topic': topic }, { qstashClient }).POST,
  };
  topic.workflowId = 'process-topic/process-topic';
  base = receiveFor((request) => {
    const [, , name = ''] = new URL(request.url).pathname.split('/');
    return handlers[name]?.(request) ?? Promise.resolve(new Response(null, { status: 404 }));
  });
  return { base, batchRuns };
}

const triggered = async (base: string, topicIds: readonly string[]): Promise<string> =>
  (await workflows.trigger({ url: `${base}/process-user-topics`, body: { topicIds }, headers }))
    .workflowRunId;

await runOperations({
  'a step of an agent, a second later; its signature is verified': async () => {
    const inbox = receiver.inbox();
    const operationId = randomUUID();
    await qstashClient.publishJSON({
      url: inbox.url,
      body: { operationId, stepIndex: 1, payload: {} },
      delay: 1,
      retries: 3,
      headers: {
        'Content-Type': 'application/json',
        'X-Agent-Operation-Id': operationId,
        'X-Agent-Step-Index': '1',
      },
    });
    const [delivery] = await inbox.received(1);
    equal(delivery?.headers['x-agent-operation-id'], operationId);
    const signature = delivery.headers['upstash-signature'] ?? '';
    equal(await verifier.verify({ signature, body: delivery.body.toString() }), true);
  },
  'the memory pipeline with six topics; every run succeeds': async () => {
    const extracted: string[] = [];
    const { base, batchRuns } = servePipeline(
      (topicId, layer) => extracted.push(`${topicId} ${layer}`),
      () => undefined,
    );
    const topicIds = ['t1', 't2', 't3', 't4', 't5', 't6'];
    equal(await stateOf(await triggered(base, topicIds)), 'RUN_SUCCESS');
    deepEqual(await Promise.all(batchRuns.map(stateOf)), ['RUN_SUCCESS', 'RUN_SUCCESS']);
    deepEqual(
      extracted.toSorted(),
      topicIds.flatMap((topicId) => [`${topicId} cepa`, `${topicId} identity`]),
    );
  },
  'a topic that fails permanently; its failure function is called, and its batch continues': async () => {
    const told = pending<string>();
    const { base, batchRuns } = servePipeline((topicId) => {
      if (topicId === 'bad') throw new Error('broken');
    }, told.done);
    equal(await stateOf(await triggered(base, ['good', 'bad'])), 'RUN_SUCCESS');
    equal(await told.promise, 'bad');
    deepEqual(await Promise.all(batchRuns.map(stateOf)), ['RUN_SUCCESS']);
  },
});
