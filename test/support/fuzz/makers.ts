/** Creates what requests to an operation name, because a description's examples cannot have ids that exist. */
import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { makeAccount, manage, type AccountRecord } from '../accounts.ts';
import { api, ok, unique } from '../api.ts';
import { eventually } from '../eventually.ts';
import type { Answer } from '../publish.ts';
import type { Inbox } from '../receiver.ts';
import { service } from '../service.ts';
import type { Known } from './requests.ts';

export interface Makers {
  /** Values with which a request to an operation succeeds. Operations are named as in the route table. */
  knownFor(method: string, path: string): Promise<Known>;
}

const later = { 'svc-delay': '10m' };
const published = z.object({ messageId: z.string() });
const startedRun = z.object({ workflowRunId: z.string() });
const deadLetters = z.object({ messages: z.array(z.object({ dlqId: z.string() })) });
const madeToken = z.object({ id: z.string() });
const circuits = z.array(z.object({ host: z.string() }));

/**
 * @param account the account whose token the requests have
 * @param endpoints one that answers 200, one that answers 500, one that does not answer, and one that answers 202
 */
export function makersOf(
  account: AccountRecord,
  endpoints: {
    readonly ok: string;
    readonly failing: string;
    readonly held: string;
    readonly deferred: Inbox;
  },
): Makers {
  const ask = (method: string, path: string, init: Parameters<typeof api>[2] = {}): Promise<Answer> =>
    api(method, path, { ...init, token: account.token });

  const message = async (): Promise<string> =>
    published.parse(await ok(ask('POST', `/v2/publish/${endpoints.ok}`, { headers: later }))).messageId;

  async function run(): Promise<string> {
    const started = await ok(ask('POST', `/v2/trigger/${endpoints.ok}`, { headers: later, body: {} }));
    return startedRun.parse(started).workflowRunId;
  }

  /** A run that has created a webhook. */
  async function webhook(): Promise<{ readonly runId: string; readonly eventId: string }> {
    const runId = await run();
    const eventId = `evt_${randomBytes(12).toString('base64url').slice(0, 15)}`;
    const out = JSON.stringify({ webhookUrl: `${endpoints.ok}/${eventId}`, eventId });
    const step = { stepId: 1, stepName: 'make', stepType: 'CreateWebhook', out, concurrent: 1 };
    const headers = { 'svc-workflow-init': 'false', 'svc-workflow-runid': runId };
    await ok(ask('POST', `/v2/publish/${endpoints.ok}`, { headers, body: step }));
    return { runId, eventId };
  }

  /** Waits for a list's first dead letter, and returns its id. */
  async function deadLetterIn(path: string): Promise<string> {
    const { messages } = await eventually(
      async () => deadLetters.parse(await ok(ask('GET', path))),
      (page) => page.messages.length > 0,
    );
    return messages[0]?.dlqId ?? '';
  }

  async function deadLetter(): Promise<string> {
    const answer = await ok(
      ask('POST', `/v2/publish/${endpoints.failing}`, {
        headers: { 'svc-retries': '0' },
        body: { order: 1 },
      }),
    );
    return deadLetterIn(`/v2/dlq?messageId=${published.parse(answer).messageId}`);
  }

  /** @param filter for the dead letter */
  async function failedRun(failureCallback?: string, filter = ''): Promise<string> {
    const headers = {
      'svc-retries': '0',
      ...(failureCallback !== undefined && { 'svc-failure-callback': failureCallback }),
    };
    const started = await ok(ask('POST', `/v2/trigger/${endpoints.failing}`, { headers, body: {} }));
    return deadLetterIn(
      `/v2/workflows/dlq?workflowRunId=${startedRun.parse(started).workflowRunId}${filter}`,
    );
  }

  async function queue(): Promise<string> {
    const queueName = unique('queue');
    await ok(ask('POST', '/v2/queues', { body: { queueName, parallelism: 1 } }));
    return queueName;
  }

  async function group(): Promise<string> {
    const name = unique('group');
    await ok(
      ask('POST', `/v2/topics/${name}/endpoints`, {
        body: { endpoints: [{ url: endpoints.ok, name: 'first' }] },
      }),
    );
    return name;
  }

  async function schedule(): Promise<string> {
    const id = unique('schedule');
    const headers = { 'svc-cron': '0 0 29 2 *', 'svc-schedule-id': id };
    await ok(ask('POST', `/v2/schedules/${endpoints.ok}`, { headers, body: {} }), 200);
    return id;
  }

  async function flowControlKey(): Promise<string> {
    const key = unique('key');
    const headers = { 'svc-flow-control-key': key, 'svc-flow-control-value': 'parallelism=3, rate=10' };
    await ok(ask('POST', `/v2/publish/${endpoints.ok}`, { headers }));
    await eventually(
      async () => (await ask('GET', `/v2/flowControl/${key}`)).status,
      (status) => status === 200,
    );
    return key;
  }

  async function circuit(): Promise<string> {
    const { host } = new URL(endpoints.failing);
    const headers = { 'svc-circuit': 'on', 'svc-retries': '5', 'svc-retry-delay': '500' };
    await ok(ask('POST', `/v2/publish/${endpoints.failing}`, { headers }));
    await eventually(
      async () => circuits.parse(await ok(ask('GET', '/v2/circuits'))),
      (all) => all.some((one) => one.host === host),
    );
    return host;
  }

  /** A group with an endpoint that has its own signature. */
  async function signedGroup(): Promise<string> {
    const name = unique('group');
    const signature = { header: 'X-Signature', encoding: 'hex' };
    const endpoint = { url: endpoints.ok, name: 'signed', signature };
    await ok(ask('POST', `/v2/topics/${name}/endpoints`, { body: { endpoints: [endpoint] } }));
    return name;
  }

  /** A message whose attempt is open. @returns its id, and the end of the attempt's completion URL */
  async function openMessage() {
    const headers = { 'svc-deferred': '1h', 'svc-forward-x-order': unique('order') };
    const answer = await ok(ask('POST', `/v2/publish/${endpoints.deferred.url}`, { headers }));
    const { messageId } = published.parse(answer);
    const deliveries = await endpoints.deferred.until((all) =>
      all.some(({ headers: sent }) => sent['svc-message-id'] === messageId),
    );
    const delivery = deliveries.find(({ headers: sent }) => sent['svc-message-id'] === messageId);
    const completion = String(delivery?.headers['svc-complete-url']).split('/').at(-1) ?? '';
    await eventually(
      async () => ask('GET', `/v2/messages/${messageId}?state=ALL`),
      ({ json }) => z.looseObject({ state: z.string() }).parse(json)['state'] === 'ACTIVE',
    );
    return { messageId, completion };
  }

  const otherAccount = async () => ({ token: (await makeAccount()).token });

  async function heldOf(kind: string, path: Readonly<Record<string, string>>): Promise<Known> {
    await ok(ask('POST', `/v2/${kind}/${Object.values(path).join('')}/hold`));
    return { path };
  }

  async function ownToken(): Promise<Known> {
    const made = await ok(ask('POST', '/v2/tokens', { body: { name: unique('token'), scope: 'read' } }), 201);
    return { path: { tokenId: madeToken.parse(made).id } };
  }

  async function tokenOfAccount(): Promise<Known> {
    const { id } = await makeAccount();
    const body = { name: 'fuzz', scope: 'read' };
    const made = await ok(manage('POST', `/v2/svc/users/${id}/tokens`, { body }), 201);
    return { path: { id, tokenId: madeToken.parse(made).id } };
  }

  const byVariable: Readonly<Record<string, () => Promise<string>>> = {
    destination: () => Promise.resolve(endpoints.ok),
    queueName: queue,
    messageId: message,
    dlqId: deadLetter,
    key: flowControlKey,
    host: circuit,
    schedule,
    name: group,
    runId: run,
    account: () => Promise.resolve(account.id),
    id: async () => (await makeAccount()).id,
    bulkId: async () => {
      const answer = await ok(ask('DELETE', '/v2/messages?label=fuzz-none&background=true'), 202);
      return z.object({ bulkId: z.string() }).parse(answer).bulkId;
    },
    eventId: () => Promise.resolve(unique('event')),
    event: () => Promise.resolve(unique('event')),
  };

  const makerOf = (path: string, variable: string) => {
    if (path.startsWith('/v2/workflows/dlq/') && variable === 'dlqId') return () => failedRun();
    if (path.startsWith('/v2/queues/') && variable === 'name') return queue;
    return byVariable[variable];
  };

  /** Makes those of a path's variables that are not known. */
  async function variablesOf(path: string, known: Known['path']): Promise<Known['path']> {
    const made = { ...known };
    for (const [, name = ''] of path.matchAll(/\{(\w+)\+?\}/g)) {
      const make = makerOf(path, name);
      if (make !== undefined) made[name] ??= await make();
    }
    return made;
  }

  /** Operations that need more than path variables. */
  const more: Readonly<Record<string, () => Known | Promise<Known>>> = {
    'POST /v2/schedules/{schedule+}': () => ({
      path: { schedule: endpoints.ok },
      headers: { 'svc-cron': '0 0 29 2 *' },
    }),
    'POST /v2/batch': () => ({ body: [{ destination: endpoints.ok, body: 'one' }] }),
    'POST /v2/batch/trigger': () => ({ body: [{ destination: endpoints.ok, headers: later }] }),
    'DELETE /v2/messages': async () => ({ body: { messageIds: [await message()] } }),
    'DELETE /v2/dlq': async () => ({ query: { dlqIds: await deadLetter() } }),
    'POST /v2/dlq/retry': async () => ({ query: { dlqIds: await deadLetter() } }),
    'GET /v2/cron': () => ({ query: { expression: '*/5 * * * *' } }),
    'POST /v2/topics/{name}/endpoints': () => ({
      body: { endpoints: [{ url: `${endpoints.ok}/second`, name: 'second' }] },
    }),
    'DELETE /v2/topics/{name}/endpoints': () => ({ body: { endpoints: [{ name: 'first' }] } }),
    'POST /v2/topics/{name}/endpoints/rotate-signature': async () => ({
      path: { name: await signedGroup() },
      body: { endpoints: [{ name: 'signed' }] },
    }),
    'DELETE /v2/topics/{name}/endpoints/rotate-signature': async () => ({
      path: { name: await signedGroup() },
      body: { endpoints: [{ name: 'signed' }] },
    }),
    'DELETE /v2/tokens/{tokenId}': ownToken,
    'POST /v2/tokens/{tokenId}/rotate': ownToken,
    // The other operations need the account's token, its messages and its bulk operations.
    'POST /v2/tokens/rotate': otherAccount,
    'POST /v2/messages/publish': otherAccount,
    'POST /v2/hold': otherAccount,
    'POST /v2/release': async () => {
      const { token } = await otherAccount();
      await ok(api('POST', '/v2/hold', { token }));
      return { token };
    },
    'POST /v2/hosts/{host}/hold': () => ({ path: { host: 'held.example.com' } }),
    'POST /v2/hosts/{host}/release': () => heldOf('hosts', { host: 'held.example.com' }),
    'POST /v2/labels/{label}/hold': () => ({ path: { label: unique('label') } }),
    'POST /v2/labels/{label}/release': () => heldOf('labels', { label: unique('label') }),
    'POST /v2/topics/{name}/release': async () => heldOf('topics', { name: await group() }),
    'GET /v2/stats/lanes': async () => ({ query: { queueName: await queue() } }),
    'POST /v2/alarms/test': async () => {
      const body = { url: endpoints.ok, format: 'json', hosts: true };
      await ok(ask('PUT', '/v2/alarms', { body }));
      return {};
    },
    'POST /v2/complete/{completion}': async () => {
      const { completion } = await openMessage();
      return { path: { completion }, body: { status: 200 } };
    },
    'POST /v2/extend/{completion}': async () => ({
      path: { completion: (await openMessage()).completion },
      body: { within: '1h' },
    }),
    'POST /v2/messages/{messageId}/complete': async () => {
      const { messageId } = await openMessage();
      return { path: { messageId }, body: { status: 200 } };
    },
    'POST /v2/flowControl/{key}/pin': () => ({ query: { parallelism: '3' } }),
    'POST /v2/flowControl/{key}/unpin': () => ({ query: { parallelism: 'true' } }),
    'DELETE /v2/workflows/runs': async () => ({ query: { workflowRunIds: await run() } }),
    'DELETE /v2/workflows/dlq': async () => ({ query: { dlqIds: await failedRun() } }),
    'POST /v2/workflows/dlq/resume': async () => ({ query: { dlqIds: await failedRun() } }),
    'POST /v2/workflows/dlq/restart': async () => ({ query: { dlqIds: await failedRun() } }),
    // The operation is refused until the failure function has been called.
    'POST /v2/workflows/dlq/callback/{dlqId}': async () => ({
      path: { dlqId: await failedRun(undefined, '&failureFunctionState=CALLBACK_FAIL') },
    }),
    'DELETE /v2/workflows/dlq/callback/{dlqId}': async () => ({
      path: { dlqId: await failedRun(endpoints.held) },
    }),
    'POST /v2/wait/{eventId+}': async () => ({
      headers: { 'Svc-Workflow-Init': 'false', 'Svc-Workflow-Runid': await run() },
      body: {
        url: endpoints.ok,
        step: { stepId: 1, stepName: 'paid', stepType: 'Wait', concurrent: 1 },
      },
    }),
    'POST /v2/{brand}/users/{id}/failure-callback/test': async () => ({
      path: { id: (await makeAccount({ failure_callback: endpoints.ok })).id },
    }),
    'DELETE /v2/{brand}/users/{id}/tokens/{tokenId}': tokenOfAccount,
    'POST /v2/{brand}/users/{id}/tokens/{tokenId}/rotate': tokenOfAccount,
    'POST /v2/{brand}/users': () => ({
      body: { customer_id: 'fuzz@example.com', type: 'paid', region: service.region },
    }),
  };

  return {
    async knownFor(method, path) {
      const isHook = path.startsWith('/v2/workflows/hooks/');
      const own = isHook ? { path: await webhook() } : ((await more[`${method} ${path}`]?.()) ?? {});
      return { ...own, path: await variablesOf(path, own.path) };
    },
  };
}
