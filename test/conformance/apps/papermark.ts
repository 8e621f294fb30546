/**
 * Papermark's calls: customers' webhooks with callbacks, and schedules' jobs. It verifies JSON that it has parsed and
 * serialized again.
 */
import { deepEqual, equal } from 'node:assert/strict';
import { headersOfQueue, pending, reportedWebhook } from './environment.ts';
import { receiveFor, receiver, runOperations } from '../harness.ts';
import * as qstash from '@upstash/qstash';

const client = new qstash.Client({ token: process.env['QSTASH_TOKEN'] ?? '' });
const verifier = new qstash.Receiver({
  currentSigningKey: process.env['QSTASH_CURRENT_SIGNING_KEY'] ?? '',
  nextSigningKey: process.env['QSTASH_NEXT_SIGNING_KEY'] ?? '',
});

const isGenuine = (request: Request, body: string): Promise<boolean> =>
  verifier.verify({
    signature: request.headers.get('upstash-signature') ?? '',
    body: JSON.stringify(JSON.parse(body)),
  });

const webhook = (status: number) =>
  reportedWebhook((message) => client.publishJSON(message), isGenuine, 'X-Papermark-Signature', status);

await runOperations({
  'a webhook of a customer; its callback is verified, and has numbers as times': () => webhook(200),
  'a webhook of a customer; it does not show the queue': async () => {
    const inbox = receiver.inbox();
    const headers = { 'X-Papermark-Signature': 'signed', 'Upstash-Hide-Headers': 'true' };
    await client.publishJSON({ url: inbox.url, body: { id: 'evt_1' }, headers });
    deepEqual((await inbox.received(1)).map(headersOfQueue), [[]]);
  },
  'a webhook that fails; the failure callback is verified': () => webhook(500),
  'a job; its signature is verified': async () => {
    const verified = pending<boolean>();
    const url = receiveFor(async (request) => {
      isGenuine(request, await request.text()).then(verified.done, verified.failed);
      return new Response('OK');
    });
    await client.publishJSON({ url, body: { text: 'Zoë "quoted" 1.0', n: 1 } });
    equal(await verified.promise, true);
  },
});
