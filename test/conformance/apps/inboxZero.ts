/** Inbox Zero's calls: messages with flow control, batches, and a queue for each kind of work. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { pending } from './environment.ts';
import { receiveFor, receiver, runOperations } from '../harness.ts';
import * as qstash from '@upstash/qstash';
import { verifySignatureAppRouter } from '@upstash/qstash/nextjs';

const client = new qstash.Client({ token: process.env['QSTASH_TOKEN'] ?? '' });
const unique = (name: string): string => `${name}-${randomUUID().slice(0, 8)}`;

await runOperations({
  'a message with flow control and forwarded headers; its signature is verified': async () => {
    const came = pending<{ readonly body: unknown; readonly retryAfter: string | null }>();
    const verify = verifySignatureAppRouter(async (request: Request) => {
      came.done({ body: await request.json(), retryAfter: request.headers.get('retry-after') });
      return new Response('OK');
    });
    await client.publishJSON({
      url: receiveFor(verify),
      body: { emailAccountId: 'acc' },
      flowControl: { key: 'ai-clean-acc', parallelism: 3 },
      retries: 3,
      headers: new Headers({ 'Retry-After': '10' }),
    });
    deepEqual(await came.promise, { body: { emailAccountId: 'acc' }, retryAfter: '10' });
  },
  'a message with a wrong signature is refused by the application': async () => {
    const url = receiveFor(verifySignatureAppRouter(() => Promise.resolve(new Response('OK'))));
    const headers = { 'upstash-signature': 'wrong' };
    equal((await fetch(url, { method: 'POST', headers, body: '{}' })).ok, false);
  },
  'a batch with flow control': async () => {
    const inbox = receiver.inbox();
    await client.batchJSON(
      [1, 2, 3].map((n) => ({
        path: undefined,
        url: `${inbox.url}/categorize`,
        body: { n },
        flowControl: { key: 'categorize-acc', parallelism: 1 },
      })),
    );
    equal((await inbox.received(3)).length, 3);
  },
  'a queue, made, used and deleted': async () => {
    const [queueName, inbox] = [unique('ai-categorize-senders'), receiver.inbox()];
    const queue = client.queue({ queueName });
    await queue.upsert({ parallelism: 3 });
    const message = {
      url: inbox.url,
      body: { n: 1 },
      headers: { 'x-kind': 'senders' },
      deduplicationId: queueName,
    };
    await queue.enqueueJSON(message);
    await queue.enqueueJSON(message);
    equal((await inbox.received(1))[0]?.headers['x-kind'], 'senders');
    ok((await client.queue().list()).some(({ name }) => name === queueName));
    await queue.delete();
    equal(inbox.deliveries.length, 1);
  },
});
