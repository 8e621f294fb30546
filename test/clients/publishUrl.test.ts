import { Client } from '@upstash/qstash';
import { Client as WorkflowClient } from '@upstash/workflow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unique } from '../support/api.ts';
import { service } from '../support/publish.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';

/** The client has one base URL for everything. A user of both URLs creates two clients: see docs/network.md. */

let receiver: Receiver;
let client: Client;
let publisher: Client;
beforeAll(async () => {
  receiver = await startReceiver();
  const { token } = service;
  client = new Client({ baseUrl: service.url, token });
  publisher = new Client({ baseUrl: service.publishUrl, token });
});
afterAll(() => receiver.close());

describe('the published client, with the publish URL as its base URL,', () => {
  it('publishes JSON, which the client of the API then sees', async () => {
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

  it('publishes bodies of other types', async () => {
    const inbox = receiver.inbox();
    await publisher.publish({ url: inbox.url, body: 'tëxt' });
    await publisher.publish({
      url: inbox.url,
      body: '%PDF',
      headers: { 'Content-Type': 'application/octet-stream' },
    });
    const bodies = (await inbox.received(2)).map(({ body }) => body.toString());
    expect(bodies.sort()).toEqual(['%PDF', 'tëxt']);
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

  it('enqueues', async () => {
    const inbox = receiver.inbox();
    await publisher.queue({ queueName: unique('queue') }).enqueueJSON({ url: inbox.url, body: { n: 1 } });
    await inbox.received(1);
  });

  it('starts a run of a workflow', async () => {
    const inbox = receiver.inbox();
    const workflows = new WorkflowClient({ baseUrl: service.publishUrl, token: service.token });
    const { workflowRunId } = await workflows.trigger({ url: inbox.url, body: { order: 1 }, retries: 0 });
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers['upstash-workflow-runid']).toBe(workflowRunId);
  });

  it('throws the service’s own text if something is wrong', async () => {
    await expect(publisher.publish({ url: 'not$a$url' })).rejects.toThrow(/The destination is/);
    await expect(publisher.publish({ url: receiver.origin, retries: 99 })).rejects.toThrow(
      /max_retries is 5/,
    );
  });

  it('is told the URL of everything else', async () => {
    await expect(publisher.logs()).rejects.toThrow(/this address only takes messages\. All else is at http/);
    await expect(publisher.messages.get('msg_1')).rejects.toThrow(/All else is at http/);
  });
});
