/** Dub's calls: customers' webhooks with callbacks, batches into queues, workflows. */
import { deepEqual, equal } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { headersOfQueue, pending, reportedWebhook } from './environment.ts';
import { receiveFor, receiver, runOperations } from '../harness.ts';
import { stateOf } from '../service.ts';
import * as qstash from '@upstash/qstash';
import * as workflow from '@upstash/workflow';
import { serve } from '@upstash/workflow/nextjs';

const token = process.env['QSTASH_TOKEN'] ?? '';
const client = new qstash.Client({ token });
const workflows = new workflow.Client({ token });
const verifier = new qstash.Receiver();

const isGenuine = (request: Request, body: string): Promise<boolean> => {
  const region = request.headers.get('upstash-region');
  const signature = request.headers.get('upstash-signature') ?? '';
  return verifier.verify({ signature, body, ...(region !== null && { upstashRegion: region }) });
};

const webhook = (status: number) =>
  reportedWebhook((message) => client.publishJSON(message), isGenuine, 'Dub-Signature', status);

await runOperations({
  'a webhook of a customer; its callback is verified, and has numbers as times': () => webhook(200),
  'a webhook of a customer; it does not show the queue': async () => {
    const inbox = receiver.inbox();
    const headers = { 'Dub-Signature': 'signed', 'Upstash-Hide-Headers': 'true' };
    await client.publishJSON({ url: inbox.url, body: { id: 'evt_1' }, headers });
    deepEqual((await inbox.received(1)).map(headersOfQueue), [[]]);
  },
  'a webhook that fails; the failure callback is verified': () => webhook(410),
  'a batch of jobs into queues, each once': async () => {
    const inbox = receiver.inbox();
    const queueName = `ban-partner-${randomUUID().slice(0, 8)}`;
    const jobs = [1, 2, 3].map((n) => ({
      queueName,
      url: inbox.url,
      body: { n },
      deduplicationId: `${queueName}-${n}`,
    }));
    equal((await client.batchJSON(jobs)).length, 3);
    await client.batchJSON(jobs);
    const deliveries = await inbox.received(3);
    deepEqual(
      deliveries.map(({ body }) => body.toString()),
      ['{"n":1}', '{"n":2}', '{"n":3}'],
    );
    equal(inbox.deliveries.length, 3);
    await client.queue({ queueName }).delete();
  },
  'a scheduled job; its signature is verified': async () => {
    const verified = pending<boolean>();
    const url = receiveFor(async (request) => {
      isGenuine(request, await request.text()).then(verified.done, verified.failed);
      return new Response('OK');
    });
    await client.publishJSON({ url, body: { page: 1 }, delay: 1 });
    equal(await verified.promise, true);
  },
  'workflows, several triggered at once, with flow control': async () => {
    const { POST } = serve(
      async (context) => {
        await context.run('create-default-links', () => context.requestPayload);
        await context.run('send-email', () => 1);
        await context.run('send-webhook', () => 2);
      },
      { initialPayloadParser: (text: string): unknown => JSON.parse(text) },
    );
    const url = receiveFor(POST);
    const runs = await workflows.trigger(
      [1, 2].map((partner) => ({
        url,
        body: { partnerId: `pn_${partner}` },
        retries: 3,
        flowControl: { key: 'partner-approved', parallelism: 20 },
      })),
    );
    deepEqual(await Promise.all(runs.map(({ workflowRunId }) => stateOf(workflowRunId))), [
      'RUN_SUCCESS',
      'RUN_SUCCESS',
    ]);
  },
});
