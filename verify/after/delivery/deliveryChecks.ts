/** Checks what is delivered, and when. */
import { randomBytes } from 'node:crypto';
import jws from 'jws';
import * as z from 'zod';
import { type Check, expectThat } from '../../check.ts';
import { deliver, deliverBytes, strange } from '../acts.ts';
import { anything, post, publish, published } from '../api.ts';
import type { After } from '../context.ts';
import { until } from '../../wait.ts';

/** A short timeout, so that messages go through the short queue. Others go through the long one. */
const soon = { 'svc-timeout': '20s' };

const keys = z.object({ current: z.string() });
const claims = z.object({ sub: z.string() });

/** Publishes to a URL with unusual characters. The whole URL is encoded. */
async function deliverStrange(after: After) {
  let destination = '';
  const received = await deliver(after, after.api.client, { body: 'bytes' }, (url) => {
    destination = `${url}${strange.path}?${strange.query}`;
    return encodeURIComponent(destination);
  });
  return { destination, received };
}

const text = '東京 é';
const labelled = z.object({ label: z.string() });

const callbackBody = z.object({ status: z.number(), sourceMessageId: z.string() });

const deadLetters = z.object({
  messages: z.array(z.object({ dlqId: z.string(), error: z.string().optional() })),
});

export async function makeDeadLetter({ api: { client }, timeout }: After, destination: string) {
  const messageId = await publish(client, destination, {
    body: 'in vain',
    headers: { 'svc-retries': '0' },
  });
  const { dlqId, error } = await until(
    async () => (await client.read(deadLetters, 'GET', `/v2/dlq?messageId=${messageId}`)).messages[0],
    () => 'A message that failed did not become a dead letter.',
    timeout,
  );
  return { messageId, dlqId, error };
}

const queued = ['first', 'second', 'third', 'fourth'];

const logged = z.object({ runs: z.array(z.object({ workflowState: z.string() })) });

/** The start of a run and three steps. Each is delivered with all previous ones. */
const runDeliveries = 4;

/** Bytes that are not valid UTF-8. */
const binary = Buffer.from([...Array(256).keys()]);

/** Incompressible text that is too large for a table's row, so it is stored in S3. */
const large = (): Buffer => Buffer.from(randomBytes(75 * 1_024).toString('base64'));

const lookAtDelivery =
  'Look for the message in GET /v2/logs and for the alarms of docs/operate.md: are the event source mappings of the functions DeliverShort and DeliverLong enabled, and may these do what they have to?';

export const deliveryChecks: readonly Check<After>[] = [
  {
    name: 'path-bytes',
    shows: 'the path of a destination arrives byte for byte',
    remedy: lookAtDelivery,
    run: async (after) => {
      const { received } = await deliverStrange(after);
      expectThat(received?.path === strange.path, `${strange.path} arrived as ${String(received?.path)}.`);
      return `${strange.path} arrived byte for byte`;
    },
  },
  {
    name: 'query-bytes',
    shows: 'the query of a destination arrives byte for byte',
    remedy: lookAtDelivery,
    notOnEmulator: 'the emulator encodes again the query that a function URL gets',
    run: async (after) => {
      const { received } = await deliverStrange(after);
      expectThat(
        received?.query === strange.query,
        `${strange.query} arrived as ${String(received?.query)}.`,
      );
      return `${strange.query} arrived byte for byte`;
    },
  },
  {
    name: 'signature',
    shows: 'a delivery is signed with the key that the account sees',
    remedy: 'The functions Keys and DeliverLong have to read one master secret: svc-queue drift.',
    run: async (after) => {
      const { destination, received } = await deliverStrange(after);
      const { current } = await after.api.client.read(keys, 'GET', '/v2/keys');
      const signature = received?.signature ?? '';
      expectThat(
        signature !== '' && jws.verify(signature, 'HS256', current),
        'The delivery was not signed with the account’s key.',
      );
      const payload: unknown = jws.decode(signature)?.payload;
      const { sub } = claims.parse(payload);
      expectThat(sub === destination, `The signature is for ${sub}.`);
      return 'a delivery was signed for its URL with the account’s key';
    },
  },
  {
    name: 'binary-body',
    shows: 'a body that is no text arrives byte for byte',
    remedy: 'The API needs the binary media type */*: svc-queue drift shows whether it has it.',
    notOnEmulator: 'the emulator takes every body for text',
    run: (after) => deliverBytes(after, after.api.client, binary, 'application/octet-stream'),
  },
  {
    name: 'header-text',
    shows: 'a header in UTF-8 is read as text, through the API and the publish URL',
    remedy: 'AWS passes headers on in a way that this release does not know: give settings in the query.',
    // AWS does not document how API Gateway and function URLs pass on a header's bytes above 0x7F.
    run: async ({ api: { client }, inbox, publishUrl }) => {
      const doors = publishUrl === undefined ? [client] : [client, publishUrl];
      for (const door of doors) {
        const messageId = await publish(door, inbox('ok').url, {
          body: 'text',
          headers: { 'svc-delay': '10m', 'svc-label': Buffer.from(text).toString('latin1') },
        });
        const { label } = await client.read(labelled, 'GET', `/v2/messages/${messageId}`);
        expectThat(label === text, `The label ${text} arrived as ${label}.`);
        await client.read(anything, 'DELETE', `/v2/messages/${messageId}`);
      }
      return `the label ${text} arrived as it was`;
    },
  },
  {
    name: 'large-body',
    shows: 'a body of 100 KB goes through the bucket',
    remedy:
      'Look at the bucket of Svc-<region>-State, and whether the functions Publish, DeliverShort and DeliverLong may use it.',
    run: (after) => deliverBytes(after, after.api.client, large(), 'text/plain'),
  },
  {
    name: 'retry',
    shows: 'a delivery that failed is made again',
    remedy: lookAtDelivery,
    run: async ({ api: { client }, inbox }) => {
      const one = inbox('fail-first');
      await publish(client, one.url, {
        body: 'again',
        headers: { 'svc-retries': '1', 'svc-retry-delay': '1000', ...soon },
      });
      const retried = (await one.received(2)).map((received) => received.retried).join();
      expectThat(retried === '0,1', `The attempts were ${retried}.`);
      return 'a failed delivery was tried again';
    },
  },
  {
    name: 'callback',
    shows: 'an outcome is called back',
    remedy: lookAtDelivery,
    run: async ({ api: { client }, inbox }) => {
      const callbacks = inbox('ok');
      const messageId = await publish(client, inbox('ok').url, {
        body: 'work',
        headers: { 'svc-callback': callbacks.url },
      });
      const [received] = await callbacks.received(1);
      const { status, sourceMessageId } = callbackBody.parse(JSON.parse(received?.text ?? '{}'));
      expectThat(
        status === 200 && sourceMessageId === messageId,
        `The callback told of ${sourceMessageId} with ${status}.`,
      );
      return 'the outcome was called back';
    },
  },
  {
    name: 'completion',
    shows: 'a destination answers 202 and completes the attempt later',
    remedy:
      'The delivery functions get the address of the API in API_URL, and MessagesApi completes attempts: svc-queue drift.',
    run: async ({ api, inbox, isEmulator }) => {
      const [one, callbacks] = [inbox('later'), inbox('ok')];
      await publish(api.client, one.url, {
        body: 'work',
        headers: { 'svc-deferred': '1h', 'svc-callback': callbacks.url, ...soon },
      });
      const [received] = await one.received(1);
      const url = received?.completeUrl ?? '';
      // An emulator's host name is not the one that AWS would give the API.
      expectThat(isEmulator || url.startsWith(`${api.url}/`), `The URL for the completion is ${url}.`);
      const path = url.slice(Math.max(0, url.indexOf('/v2/complete/')));
      const answer = await api.send('POST', path, { body: '{"status":201,"body":"done"}' });
      expectThat(answer.status === 200, `The completion was answered ${answer.status}: ${answer.text}`);
      const [callback] = await callbacks.received(1);
      const told = callbackBody.parse(JSON.parse(callback?.text ?? '{}')).status;
      expectThat(told === 201, `The callback told of ${told}.`);
      return 'an attempt was completed at its URL';
    },
  },
  {
    name: 'dead-letter',
    shows: 'what fails becomes a dead letter, and can be sent again',
    remedy: 'Look at the log of the functions DlqApi and DeliverLong.',
    run: async (after) => {
      const one = after.inbox('fail');
      const { messageId, dlqId } = await makeDeadLetter(after, one.url);
      await after.api.client.read(anything, 'POST', `/v2/dlq/retry/${dlqId}`);
      const [first, second] = await one.received(2);
      expectThat(
        first?.messageId === messageId && second?.sha256 === first.sha256,
        'The dead letter was sent again with another body.',
      );
      return 'a dead letter was sent again';
    },
  },
  {
    name: 'queue',
    shows: 'messages of a queue come in order',
    remedy: 'Look at the log of the function DeliverLong and at the table lanes.',
    run: async ({ api: { client }, inbox }) => {
      const one = inbox('ok');
      const queue = `verify-${randomBytes(4).toString('hex')}`;
      await post(client, '/v2/queues', { queueName: queue, parallelism: 1 });
      for (const body of queued)
        await client.read(published, 'POST', `/v2/enqueue/${queue}/${one.url}`, { body });
      const order = (await one.received(queued.length)).map((received) => received.text).join();
      expectThat(order === queued.join(), `The order of the queue was ${order}.`);
      return `${queued.length} messages of a queue came in order`;
    },
  },
  {
    name: 'group',
    shows: 'each endpoint of a URL group gets a message',
    remedy: 'Look at the log of the functions UrlGroups and Publish.',
    run: async ({ api: { client }, inbox }) => {
      const [one, other] = [inbox('ok'), inbox('ok')];
      const group = `verify-${randomBytes(4).toString('hex')}`;
      const endpoints = [{ url: one.url }, { url: other.url }];
      await post(client, `/v2/topics/${group}/endpoints`, { endpoints });
      await client.read(anything, 'POST', `/v2/publish/${group}`, { body: 'for all' });
      await Promise.all([one.received(1), other.received(1)]);
      return 'both endpoints of a URL group got a message';
    },
  },
  {
    name: 'workflow',
    shows: 'a run of three steps goes on and ends',
    remedy:
      'Look at GET /v2/workflows/logs, and at the log of the functions Publish, Workflows and DeliverLong.',
    run: async ({ api, account, inbox, timeout }) => {
      const { client } = api;
      const flow = inbox('flow');
      const runId = `wfr_verify-${randomBytes(6).toString('hex')}`;
      const start = {
        destination: flow.url,
        headers: {
          'Svc-Workflow-Init': 'true',
          'Svc-Workflow-RunId': runId,
          'Svc-Workflow-Url': flow.url,
          'Svc-Workflow-Sdk-Version': '1',
          'Svc-Feature-Set': 'InitialBody,WF_TriggerOnConfig',
          'Svc-Forward-Svc-Workflow-Sdk-Version': '1',
          'Svc-Forward-Verify-Api': api.url,
          'Svc-Forward-Verify-Token': account.token,
          'Svc-Forward-Verify-Url': flow.url,
          'Svc-Retries': '1',
          'Content-Type': 'application/json',
        },
        body: '{"order":1}',
      };
      await post(client, '/v2/batch', [start]);
      const deliveries = await flow.received(runDeliveries);
      let state = '';
      await until(
        async () => {
          const { runs } = await client.read(logged, 'GET', `/v2/workflows/logs?workflowRunId=${runId}`);
          state = runs[0]?.workflowState ?? 'not in the log';
          return state === 'RUN_SUCCESS';
        },
        () => `The run got ${deliveries.length} deliveries and is ${state}.`,
        timeout,
      );
      return 'a run of three steps ended well';
    },
  },
];
