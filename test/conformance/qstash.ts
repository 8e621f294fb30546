/* eslint-disable @typescript-eslint/no-deprecated -- Old versions have nothing else, and users call it. */
/**
 * The operations of `@upstash/qstash`. A case calls only what its name mentions, so that it runs in every version that declares
 * that.
 */
import * as qstash from '@upstash/qstash';
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { groupOperations } from './qstashGroups.ts';
import { NotOffered, receiver, runOperations, token, url, type Operations } from './harness.ts';
import { providerOperations } from './providers.ts';
import { deadLetterOf, delivered, messageOf, signingKeys } from './service.ts';

const client = new qstash.Client({ baseUrl: url, token });
const somewhere = 'https://example.com/hook';
const unique = (name: string): string => `${name}-${randomUUID().slice(0, 8)}`;

/** Publishes a message that is due in ten minutes, and returns what the service stores. */
async function kept(settings: Readonly<Record<string, unknown>>) {
  const { messageId } = await client.publish({ url: somewhere, delay: 600, ...settings });
  return messageOf(messageId);
}

const failing = () => receiver.inbox((_delivery, response) => response.writeHead(500).end('broken'));

/** Publishes a message that fails permanently. @returns the id of its dead letter */
async function deadLettered(): Promise<string> {
  const { messageId } = await client.publish({ url: failing().url, retries: 0 });
  return deadLetterOf(messageId);
}

/** Prints the URL of the first request of a client without settings, and sends nothing. */
const tellUrl = `
import { Client } from '@upstash/qstash';
globalThis.fetch = (url) => {
  console.log(String(url));
  process.exit();
};
await new Client({}).publish({ url: 'https://example.com' });`;

const settings: Operations = {
  'Client; finds QSTASH_URL and QSTASH_TOKEN': async () => {
    const env = { PATH: process.env['PATH'], QSTASH_URL: url, QSTASH_TOKEN: token };
    const args = ['--input-type=module', '--eval', tellUrl];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env, cwd: import.meta.dirname });
    if (!stdout.startsWith(`${url}/v2/`)) return new NotOffered(stdout);
    return undefined;
  },
};

const publishing: Operations = {
  'publish({ url, method, headers, body })': async () => {
    const inbox = receiver.inbox();
    const headers = { 'X-Tenant': 'acme' };
    const { messageId } = await client.publish({ url: inbox.url, method: 'PUT', headers, body: 'work' });
    const [delivery] = await inbox.received(1);
    deepEqual([delivery?.method, delivery?.body.toString()], ['PUT', 'work']);
    equal(delivery?.headers['x-tenant'], 'acme');
    equal(delivery.headers['upstash-message-id'], messageId);
  },
  publishJSON: async () => {
    const inbox = receiver.inbox();
    await client.publishJSON({ url: inbox.url, body: { hello: 'world' } });
    const [delivery] = await inbox.received(1);
    equal(delivery?.headers['content-type'], 'application/json');
    equal(delivery.body.toString(), '{"hello":"world"}');
  },
  'publish({ delay })': async () => {
    const { notBefore, createdAt } = await kept({});
    ok(Math.abs(notBefore - createdAt - 600_000) < 10_000);
  },
  'publish({ notBefore })': async () => {
    const notBefore = Math.round(Date.now() / 1000) + 900;
    equal((await kept({ notBefore, delay: undefined })).notBefore, notBefore * 1000);
  },
  'publish({ retries })': async () => {
    equal((await kept({ retries: 2 }))['maxRetries'], 2);
  },
  'publish({ retryDelay })': async () => {
    equal(
      (await kept({ retryDelay: '1000 * (1 + retried)' }))['retryDelayExpression'],
      '1000 * (1 + retried)',
    );
  },
  'publish({ timeout })': async () => {
    equal((await kept({ timeout: 20 }))['timeout'], 20);
  },
  'publish({ callback })': async () => {
    const callbacks = receiver.inbox();
    const { messageId } = await client.publish({ url: receiver.inbox().url, callback: callbacks.url });
    const [called] = await callbacks.received(1);
    match(called?.body.toString() ?? '', new RegExp(`"sourceMessageId":"${messageId}"`));
  },
  'publish({ failureCallback })': async () => {
    const callbacks = receiver.inbox();
    await client.publish({ url: failing().url, retries: 0, failureCallback: callbacks.url });
    match((await callbacks.received(1))[0]?.body.toString() ?? '', /"status":500/);
  },
  'publish({ deduplicationId })': async () => {
    const message = { url: somewhere, delay: 600, deduplicationId: unique('id') };
    const { messageId } = await client.publish(message);
    const again = await client.publish(message);
    deepEqual([again.messageId, again.deduplicated], [messageId, true]);
  },
  'publish({ contentBasedDeduplication })': async () => {
    const message = { url: somewhere, delay: 600, body: unique('work'), contentBasedDeduplication: true };
    const { messageId } = await client.publish(message);
    const again = await client.publish(message);
    deepEqual([again.messageId, again.deduplicated], [messageId, true]);
  },
  'publish({ label })': async () => {
    equal((await kept({ label: 'nightly' }))['label'], 'nightly');
  },
  'publish({ flowControl })': async () => {
    equal((await kept({ flowControl: { key: 'tenant', parallelism: 3 } }))['flowControlKey'], 'tenant');
  },
  'publish({ redact })': async () => {
    match(String((await kept({ body: 'secret', redact: { body: true } }))['body']), /^REDACTED:/);
  },
  batch: async () => {
    const inbox = receiver.inbox();
    await client.batch([
      { url: inbox.url, body: 'one' },
      { url: inbox.url, body: 'two' },
    ]);
    const bodies = (await inbox.received(2)).map(({ body }) => body.toString());
    deepEqual(bodies.toSorted(), ['one', 'two']);
  },
  batchJSON: async () => {
    const inbox = receiver.inbox();
    await client.batchJSON([{ url: inbox.url, body: { n: 1 } }]);
    equal((await inbox.received(1))[0]?.body.toString(), '{"n":1}');
  },
};

const receiving: Operations = {
  'Receiver.verify': async () => {
    const inbox = receiver.inbox();
    await client.publish({ url: inbox.url, body: 'work' });
    const [delivery] = await inbox.received(1);
    const verifier = new qstash.Receiver(await signingKeys());
    const signature = delivery?.headers['upstash-signature'] ?? '';
    equal(await verifier.verify({ signature, body: 'work', url: inbox.url }), true);
    await rejects(verifier.verify({ signature, body: 'other', url: inbox.url }));
  },
};

const messages: Operations = {
  'messages.get': async () => {
    const { messageId } = await client.publish({ url: somewhere, delay: 600, method: 'PUT' });
    const message = await client.messages.get(messageId);
    deepEqual([message.messageId, message.url, message.method], [messageId, somewhere, 'PUT']);
  },
  'messages.delete': async () => {
    const { messageId } = await client.publish({ url: somewhere, delay: 600 });
    await client.messages.delete(messageId);
    await rejects(messageOf(messageId), /404/);
  },
  'messages.cancel({ messageIds })': async () => {
    if (!('cancel' in client.messages)) return new NotOffered('cancel');
    const { messageId } = await client.publish({ url: somewhere, delay: 600 });
    deepEqual(await client.messages.cancel({ messageIds: [messageId] }), { cancelled: 1 });
    return undefined;
  },
  logs: async () => {
    if (!('logs' in client)) return new NotOffered('logs');
    const { messageId } = await client.publish({ url: receiver.inbox().url });
    await delivered(messageId);
    const { logs } = await client.logs();
    ok(logs.some((log) => log.messageId === messageId));
    return undefined;
  },
  events: async () => {
    const { messageId } = await client.publish({ url: receiver.inbox().url });
    await delivered(messageId);
    const { events } = await client.events();
    ok(events.some((event) => event.messageId === messageId));
  },
  'dlq.listMessages': async () => {
    const dlqId = await deadLettered();
    const listed = await client.dlq.listMessages();
    ok(listed.messages.some((letter) => letter.dlqId === dlqId));
  },
  'dlq.delete': async () => {
    const dlqId = await deadLettered();
    await client.dlq.delete(dlqId);
    await rejects(client.dlq.delete(dlqId));
  },
  'dlq.deleteMany': async () => {
    deepEqual(await client.dlq.deleteMany({ dlqIds: [await deadLettered()] }), { deleted: 1 });
  },
  'dlq.retry({ dlqIds })': async () => {
    if (!('retry' in client.dlq)) return new NotOffered('retry');
    equal((await client.dlq.retry({ dlqIds: [await deadLettered()] })).responses.length, 1);
    return undefined;
  },
};

await runOperations({
  ...settings,
  ...publishing,
  ...receiving,
  ...providerOperations,
  ...messages,
  ...groupOperations,
});
