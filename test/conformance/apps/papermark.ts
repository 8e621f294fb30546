/** Papermark's calls: customers' webhooks with callbacks, and jobs. It verifies raw bodies, save in scheduled jobs. */
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
    body,
  });

/** Its scheduled jobs verify JSON that they have parsed and serialized again. */
const isGenuineAgain = (request: Request, body: string): Promise<boolean> =>
  isGenuine(request, JSON.stringify(JSON.parse(body)));

async function isVerified(verify: typeof isGenuine): Promise<void> {
  const verified = pending<boolean>();
  const url = receiveFor(async (request) => {
    verify(request, await request.text()).then(verified.done, verified.failed);
    return new Response('OK');
  });
  await client.publishJSON({ url, body: { text: 'Zoë "quoted" 1.0', n: 1 } });
  equal(await verified.promise, true);
}

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
  'a job; its signature is verified': () => isVerified(isGenuine),
  'a scheduled job; its signature is verified': () => isVerified(isGenuineAgain),
});
