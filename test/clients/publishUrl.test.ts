import { Client } from '@upstash/qstash';
import { Client as WorkflowClient } from '@upstash/workflow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unique } from '../support/api.ts';
import { service } from '../support/publish.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';

let receiver: Receiver;
let client: Client;
let publisher: Client;
/** The emulator's functions do not reach its gateway, so other requests go there. */
const others = service.target === 'local' ? service.publishUrl : service.url;
beforeAll(async () => {
  receiver = await startReceiver();
  const { token } = service;
  client = new Client({ baseUrl: others, token });
  publisher = new Client({ baseUrl: service.publishUrl, token });
});
afterAll(() => receiver.close());

describe('the published client, with the publish URL as its base URL,', () => {
  it('publishes JSON, which it then sees', async () => {
    const inbox = receiver.inbox();
    const { messageId } = await publisher.publishJSON({
      url: inbox.url,
      body: { hello: 'wörld' },
      delay: 1,
      headers: { 'X-Tenant': 'acme' },
    });
    expect(await client.messages.get(messageId)).toMatchObject({ url: inbox.url });
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers).toMatchObject({ 'x-tenant': 'acme', 'content-type': 'application/json' });
    expect(JSON.parse(delivery?.body.toString() ?? '')).toEqual({ hello: 'wörld' });
  });

  it('publishes a batch, with queues, and a URL group', async () => {
    const inbox = receiver.inbox();
    const queueName = unique('queue');
    const name = unique('group');
    await client.urlGroups.addEndpoints({ name, endpoints: [{ url: inbox.url }] });
    const answers = await publisher.batchJSON([
      { url: inbox.url, body: { n: 1 } },
      { queueName, url: inbox.url, body: { n: 2 } },
      { urlGroup: name, body: { n: 3 } },
    ]);
    expect(answers).toHaveLength(3);
    const bodies = (await inbox.received(3)).map(({ body }) => body.toString());
    expect(bodies.sort()).toEqual(['{"n":1}', '{"n":2}', '{"n":3}']);
  });

  it('starts a run of a workflow', async () => {
    const inbox = receiver.inbox();
    const workflows = new WorkflowClient({ baseUrl: service.publishUrl, token: service.token });
    const { workflowRunId } = await workflows.trigger({ url: inbox.url, body: { order: 1 }, retries: 0 });
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers['upstash-workflow-runid']).toBe(workflowRunId);
    const lists = new WorkflowClient({ baseUrl: others, token: service.token });
    const { runs } = await lists.logs({ filter: { workflowRunId } });
    expect(runs).toMatchObject([{ workflowRunId }]);
    await lists.cancel(workflowRunId);
  });
});
