/** The API's operations with plain `curl`: in the service's own dialect, without a client. */
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import { receiver, runOperations, token, url } from './harness.ts';
import { deadLetterOf, delivered } from './service.ts';

const unique = (name: string): string => `${name}-${randomUUID().slice(0, 8)}`;
const somewhere = 'https://example.com/hook';

/** @returns `curl`'s output; it fails if the status is not a success */
async function curl(method: string, path: string, ...args: readonly string[]): Promise<string> {
  const all = ['-sS', '--fail-with-body', '-X', method, '-H', `Authorization: Bearer ${token}`, ...args];
  return (await promisify(execFile)('curl', [...all, `${url}${path}`])).stdout;
}

const published = z.object({ messageId: z.string() });

async function publish(path: string, ...args: readonly string[]): Promise<string> {
  return published.parse(JSON.parse(await curl('POST', path, ...args))).messageId;
}

const later = ['-H', 'Svc-Delay: 10m'] as const;

await runOperations({
  'POST /v2/publish': async () => {
    const inbox = receiver.inbox();
    const id = await publish(`/v2/publish/${inbox.url}`, '-H', 'Svc-Forward-X-Tenant: acme', '-d', 'work');
    const [delivery] = await inbox.received(1);
    deepEqual([delivery?.body.toString(), delivery?.headers['x-tenant']], ['work', 'acme']);
    equal(delivery?.headers['svc-message-id'], id);
  },
  'POST /v2/enqueue': async () => {
    const [queue, inbox] = [unique('queue'), receiver.inbox()];
    await publish(`/v2/enqueue/${queue}/${inbox.url}`, '-d', 'work');
    equal((await inbox.received(1))[0]?.headers['svc-queue-name'], queue);
    await curl('DELETE', `/v2/queues/${queue}`);
  },
  'POST /v2/batch': async () => {
    const inbox = receiver.inbox();
    const messages = [
      { destination: inbox.url, body: 'one' },
      { destination: inbox.url, body: 'two' },
    ];
    await curl('POST', '/v2/batch', '-d', JSON.stringify(messages));
    await inbox.received(2);
  },
  'GET and DELETE /v2/messages': async () => {
    const id = await publish(`/v2/publish/${somewhere}`, ...later);
    match(await curl('GET', `/v2/messages/${id}`), new RegExp(id));
    await curl('DELETE', `/v2/messages/${id}`);
    await rejects(curl('GET', `/v2/messages/${id}`), /404/);
  },
  'GET /v2/logs': async () => {
    const id = await publish(`/v2/publish/${receiver.inbox().url}`, '-d', 'work');
    await delivered(id);
    match(await curl('GET', `/v2/logs?messageId=${id}`), /DELIVERED/);
  },
  '/v2/topics': async () => {
    const [name, inbox] = [unique('group'), receiver.inbox()];
    await curl(
      'POST',
      `/v2/topics/${name}/endpoints`,
      '-d',
      JSON.stringify({ endpoints: [{ url: inbox.url }] }),
    );
    match(await curl('GET', '/v2/topics'), new RegExp(name));
    await curl('POST', `/v2/publish/${name}`, '-d', 'to all');
    await inbox.received(1);
    await curl('DELETE', `/v2/topics/${name}`);
  },
  '/v2/queues': async () => {
    const queueName = unique('queue');
    await curl('POST', '/v2/queues', '-d', JSON.stringify({ queueName, parallelism: 2 }));
    match(await curl('GET', `/v2/queues/${queueName}`), /"parallelism":2/);
    await curl('POST', `/v2/queues/${queueName}/pause`);
    await curl('POST', `/v2/queues/${queueName}/resume`);
    await curl('DELETE', `/v2/queues/${queueName}`);
  },
  '/v2/flowControl': async () => {
    const [key, inbox] = [unique('key'), receiver.inbox()];
    const limits = ['-H', `Svc-Flow-Control-Key: ${key}`, '-H', 'Svc-Flow-Control-Value: parallelism=3'];
    await publish(`/v2/publish/${inbox.url}`, ...limits, '-d', 'work');
    await inbox.received(1);
    match(await curl('GET', `/v2/flowControl/${key}`), /"parallelismMax":3/);
  },
  '/v2/schedules': async () => {
    const answer = await curl('POST', `/v2/schedules/${somewhere}`, '-H', 'Svc-Cron: 0 0 29 2 *');
    const { scheduleId } = z.object({ scheduleId: z.string() }).parse(JSON.parse(answer));
    await curl('PATCH', `/v2/schedules/${scheduleId}/pause`);
    match(await curl('GET', `/v2/schedules/${scheduleId}`), /"isPaused":true/);
    await curl('PATCH', `/v2/schedules/${scheduleId}/resume`);
    await curl('DELETE', `/v2/schedules/${scheduleId}`);
  },
  '/v2/dlq': async () => {
    const failing = receiver.inbox((_delivery, response) => response.writeHead(500).end());
    const id = await publish(`/v2/publish/${failing.url}`, '-H', 'Svc-Retries: 0', '-d', 'work');
    const dlqId = await deadLetterOf(id);
    match(await curl('GET', `/v2/dlq/${dlqId}`), new RegExp(id));
    await curl('DELETE', `/v2/dlq/${dlqId}`);
  },
  'GET /v2/keys': async () => {
    ok((await curl('GET', '/v2/keys')).includes('"current"'));
  },
});
