/** The API's operations with plain `curl`: in the service's own dialect, without a client. */
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import { NotOffered, receiver, runOperations, token, url } from './harness.ts';
import { deadLetterOf, delivered } from './service.ts';

const unique = (name: string): string => `${name}-${randomUUID().slice(0, 8)}`;
const somewhere = 'https://example.com/hook';
const queueArn = 'arn:aws:sqs:eu-central-1:123456789012:orders';

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
  'Svc-Fail-On': async () => {
    const failing = receiver.inbox((_delivery, response) => response.writeHead(422).end());
    const once = ['-H', 'Svc-Fail-On: 400-499,!429', '-H', 'Svc-Retries: 3'];
    await deadLetterOf(await publish(`/v2/publish/${failing.url}`, ...once, '-d', 'work'));
    equal((await failing.received(1)).length, 1);
  },
  'Svc-Debounce': async () => {
    const inbox = receiver.inbox();
    const quiet = ['-H', 'Svc-Debounce: 2s', '-H', `Svc-Debounce-Id: ${unique('cart')}`];
    const ids = [];
    for (const body of ['first', 'second'])
      ids.push(await publish(`/v2/publish/${inbox.url}`, ...quiet, '-d', body));
    equal(ids[0], ids[1]);
    await delivered(ids[0] ?? '');
    deepEqual(
      (await inbox.received(1)).map(({ body }) => body.toString()),
      ['second'],
    );
  },
  'PATCH /v2/messages': async () => {
    const inbox = receiver.inbox();
    const id = await publish(`/v2/publish/${inbox.url}`, ...later, '-d', 'work');
    await curl('PATCH', `/v2/messages/${id}`, '-d', '{"delay":"0s"}');
    equal((await inbox.received(1))[0]?.headers['svc-message-id'], id);
  },
  'Svc-Fair-Key, Svc-Priority': async () => {
    const [queue, inbox] = [unique('queue'), receiver.inbox()];
    await curl('POST', '/v2/queues', '-d', JSON.stringify({ queueName: queue, parallelism: 1 }));
    await curl('POST', `/v2/queues/${queue}/pause`);
    const send = (tenant: string, priority: string) =>
      publish(
        `/v2/enqueue/${queue}/${inbox.url}`,
        ...[
          '-H',
          `Svc-Fair-Key: ${tenant}`,
          '-H',
          `Svc-Priority: ${priority}`,
          '-d',
          `${tenant} ${priority}`,
        ],
      );
    for (const [tenant, priority] of [
      ['acme', 'normal'],
      ['acme', 'normal'],
      ['beta', 'normal'],
      ['beta', 'high'],
    ] as const)
      await send(tenant, priority);
    await curl('POST', `/v2/queues/${queue}/resume`);
    deepEqual(
      (await inbox.received(4)).map(({ body }) => body.toString()),
      ['acme normal', 'beta high', 'acme normal', 'beta normal'],
    );
    await curl('DELETE', `/v2/queues/${queue}`);
  },
  '/v2/topics; a signature in one’s own header': async () => {
    const [name, inbox] = [unique('group'), receiver.inbox()];
    const signature = { header: 'X-Acme-Signature', encoding: 'hex', prefix: 'sha256=' };
    const made = await curl(
      'POST',
      `/v2/topics/${name}/endpoints`,
      ...['-d', JSON.stringify({ endpoints: [{ url: inbox.url, signature }] })],
    );
    const [, secret = ''] = /"signingSecret":"([^"]+)"/.exec(made) ?? [];
    await curl('POST', `/v2/publish/${name}`, '-d', 'work');
    const expected = createHmac('sha256', secret).update('work').digest('hex');
    equal((await inbox.received(1))[0]?.headers['x-acme-signature'], `sha256=${expected}`);
    await curl('DELETE', `/v2/topics/${name}`);
  },
  'Svc-Catch-Up, GET /v2/schedules/{id}/next': async () => {
    const yearly = ['-H', 'Svc-Cron: 0 0 29 2 *', '-H', 'Svc-Catch-Up: all'];
    const answer = await curl('POST', `/v2/schedules/${somewhere}`, ...yearly);
    const { scheduleId } = z.object({ scheduleId: z.string() }).parse(JSON.parse(answer));
    match(await curl('GET', `/v2/schedules/${scheduleId}/next?count=2`), /02-29/);
    await curl('DELETE', `/v2/schedules/${scheduleId}`);
  },
  'POST /v2/publish; to a queue of SQS': async () => {
    const id = await publish(`/v2/publish/${queueArn}`, '-d', 'work').catch((error: unknown) => {
      if (/error: 403/.test(String(error))) return undefined;
      throw error;
    });
    if (id === undefined) return new NotOffered('The account at --url may not send to that queue.');
    return delivered(id);
  },
  'GET /v2/keys': async () => {
    ok((await curl('GET', '/v2/keys')).includes('"current"'));
  },
});
