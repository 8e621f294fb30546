import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { routes } from '../../lambdas/http/routes.ts';
import { dlqId, messageId } from '../../lambdas/http/openapi/parts/examples.ts';
import { askWorkflows } from '../support/askWorkflows.ts';
import { checkAnswer, document, errorsOf, operationOf, refusalsOf } from '../support/contract.ts';
import { eventually } from '../support/eventually.ts';
import { heldInbox } from '../support/heldInbox.ts';
import { limitForHangsMs } from '../support/limits.ts';
import { call, errorOf, messageIdOf, service, type Answer } from '../support/publish.ts';
import { startReceiver } from '../support/receiver.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

interface Init {
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** The tests of workflows check the operations of waits. */
const aboutEvents = /^\w+ \/v2\/(wait|notify|waiters|workflows\/hooks)\//;
/** A run hangs only after a minute. `hangingRuns.test.ts` sets the clock forward and checks these. */
const aboutHanging = ['resume', 'restart'].map((kind) => `POST /v2/workflows/runs/{runId}/${kind}`);
/** All test files share an account, whose signing keys must not change. */
const unasked: readonly string[] = [
  ...aboutHanging,
  'POST /v2/keys/rotate',
  'POST /v2/rotate',
  'POST /v2/tokens/rotate',
];

const checked = new Set<string>();

async function ask(method: string, path: string, init: Init = {}): Promise<Answer> {
  const { token = service.token, headers, body } = init;
  const answer = await call(path, {
    method,
    headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const operation = operationOf(method, path);
  checkAnswer(operation, answer);
  if (answer.status < 400) checked.add(operation);
  return answer;
}

const deadLetters = z.object({ messages: z.array(z.object({ dlqId: z.string() })) });

/** Waits for this number of dead letters of a destination, and returns their ids. */
const deadLettersOf = (url: string, count: number): Promise<readonly string[]> =>
  vi.waitFor(
    async () => {
      const { json } = await ask('GET', `/v2/dlq?url=${encodeURIComponent(url)}`);
      const ids = deadLetters.parse(json).messages.map(({ dlqId: id }) => id);
      expect(ids).toHaveLength(count);
      return ids;
    },
    { timeout: limitForHangsMs, interval: 200 },
  );

async function askCircuits(): Promise<void> {
  const down = await startReceiver();
  const { url } = down.inbox((_delivery, response) => response.writeHead(503).end());
  const { host } = new URL(url);
  const headers = { 'svc-circuit': 'on', 'svc-retries': '5', 'svc-retry-delay': '500' };
  await ask('POST', `/v2/publish/${url}`, { headers });
  await eventually(
    async () => circuits.parse((await ask('GET', '/v2/circuits')).json),
    (all) => all.some((one) => one.host === host),
  );
  await ask('POST', `/v2/circuits/${encodeURIComponent(host)}/close`);
  await down.close();
}

async function askHolds(group: string): Promise<void> {
  for (const of of ['/hosts/held.example.com', '/labels/held', `/topics/${group}`, '']) {
    await ask('POST', `/v2${of}/hold`, { body: { reason: 'described', duration: '1m' } });
    await ask('GET', '/v2/holds');
    await ask('POST', `/v2${of}/release`);
  }
}

async function askCompletions(): Promise<void> {
  const accepting = receiver.inbox((_delivery, response) => response.writeHead(202).end());
  const headers = { 'svc-deferred': '1h' };
  const messageId = messageIdOf(await ask('POST', `/v2/publish/${accepting.url}`, { headers }));
  const [delivery] = await accepting.received(1);
  const [path = ''] = /\/v2\/complete\/.*$/.exec(delivery?.headers['svc-complete-url'] ?? '') ?? [];
  await ask('POST', path, {
    token: null,
    body: { status: 200, headers: { 'X-Pages': '12' }, body: 'done' },
  });
  await ask('POST', `/v2/messages/${messageId}/complete`, { body: { status: 200 } });
  await ask('POST', '/v2/publish/pull:described', { body: 'one' });
  const pulled = z.object({ messages: z.array(z.object({ completion: z.string() })) });
  const [one] = pulled.parse(
    (await ask('POST', '/v2/pull/described', { body: { wait: '20s' } })).json,
  ).messages;
  await ask('POST', `/v2/extend/${one?.completion}`, { token: null, body: { within: '1h' } });
}

const madeToken = z.object({ id: z.string() });

const circuits = z.array(z.object({ host: z.string() }));

/** A publish with nearly every setting. */
const everything = {
  'content-type': 'application/json',
  'svc-method': 'PUT',
  'svc-timeout': '10s',
  'svc-retries': '1',
  'svc-retry-delay': '100',
  'svc-forward-x-tenant': 'acme',
  'svc-label': 'nightly,invoices',
  'svc-flow-control-key': 'tenant-7',
  'svc-flow-control-value': 'parallelism=3, rate=10, period=1m',
  'svc-redact-fields': 'header[x-tenant]',
};

describe('the API’s description', () => {
  it('is served to everyone, and may be cached for a while', async () => {
    const response = await fetch(`${service.url}/v2/openapi.json`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('cache-control')).toMatch(/max-age=\d+/);
    // A stage’s name is part of the URL, except on the local stage.
    const servers = [{ url: service.target === 'local' ? '/' : '/api' }];
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify({ ...document, servers })));
  });

  it('describes every operation’s answers', async () => {
    const failing = receiver.inbox((_delivery, response) => response.writeHead(500).end('away'));
    const ok = receiver.inbox();
    const group = `described-${Date.now()}`;

    await ask('GET', '/v2/openapi.json', { token: null });
    await ask('GET', '/v2/health', { token: null });

    const withCallbacks = { ...everything, 'svc-callback': ok.url, 'svc-failure-callback': ok.url };
    await ask('POST', `/v2/publish/${failing.url}`, { headers: withCallbacks, body: { order: 1 } });
    await ask('POST', `/v2/enqueue/mail/${failing.url}`, { headers: everything, body: '\u{1f9fe}' });
    await ask('POST', `/v2/publish/${failing.url}`, { headers: { 'svc-retries': '0' }, body: 'plain' });

    const twice = { headers: { 'svc-deduplication-id': group } };
    expect((await ask('POST', `/v2/publish/${ok.url}`, twice)).status).toBe(200);
    expect((await ask('POST', `/v2/publish/${ok.url}`, twice)).status).toBe(202);

    const signature = { header: 'X-Acme-Signature', encoding: 'hex', prefix: 'sha256=' };
    const endpoints = [{ url: ok.url, name: 'first', signature }, { url: `${ok.url}/second` }];
    await ask('POST', `/v2/topics/${group}/endpoints`, { body: { endpoints } });
    const signed = `/v2/topics/${group}/endpoints/rotate-signature`;
    await ask('POST', signed, { body: { endpoints: [{ name: 'first' }] } });
    await ask('PATCH', `/v2/topics/${group}`, { body: { headers: { 'Svc-Retries': ['2'] } } });
    await askHolds(group);
    await ask('GET', '/v2/topics');
    await ask('GET', `/v2/topics/${group}`);
    await ask('POST', `/v2/publish/${group}`, { body: 'to all' });
    await ask('POST', '/v2/batch', {
      body: [{ destination: ok.url, body: 'one' }, { destination: group }, { destination: 'unknown' }],
    });
    await ask('DELETE', signed, { body: { endpoints: [{ name: 'first' }] } });
    await ask('DELETE', `/v2/topics/${group}/endpoints`, { body: { endpoints: [{ name: 'first' }] } });
    await ask('DELETE', `/v2/topics/${group}`);

    await ask('POST', '/v2/queues', { body: { queueName: group, parallelism: 3 } });
    await ask('GET', '/v2/queues');
    await ask('GET', `/v2/queues/${group}`);
    await ask('GET', `/v2/stats/lanes?queueName=${group}`);
    for (const action of ['pause', 'resume']) await ask('POST', `/v2/queues/${group}/${action}`);
    await ask('DELETE', `/v2/queues/${group}`);

    // The key exists once its first message is in flight.
    const key = encodeURIComponent(everything['svc-flow-control-key']);
    await deadLettersOf(failing.url, 3);
    await ask('GET', `/v2/flowControl/${key}`);
    await ask('GET', '/v2/flowControl?search=tenant');
    await ask('POST', `/v2/flowControl/${key}/pause`);
    await ask('POST', `/v2/flowControl/${key}/resume`);
    await ask('POST', `/v2/flowControl/${key}/pin?parallelism=3&rate=10&period=1m`);
    await ask('POST', `/v2/flowControl/${key}/unpin?parallelism=true&rate=true`);
    await ask('POST', `/v2/flowControl/${key}/resetRate`);
    await ask('POST', `/v2/flowControl/${key}/reset`);
    await ask('GET', '/v2/globalParallelism');
    await askCircuits();

    const later = { headers: { ...withCallbacks, 'svc-delay': '10m' }, body: '{}' };
    const one = messageIdOf(await ask('POST', `/v2/publish/${ok.url}`, later));
    const other = messageIdOf(await ask('POST', `/v2/publish/${ok.url}`, later));
    await ask('GET', '/v2/messages');
    await ask('GET', '/v2/messages?state=ALL');
    await ask('GET', '/v2/messages?order=due');
    for (const by of ['', '?by=state', '?by=failure']) await ask('GET', `/v2/messages/count${by}`);
    await ask('GET', `/v2/messages/${one}`);
    await ask('GET', `/v2/messages/${one}?state=ALL`);
    await ask('PATCH', `/v2/messages/${one}`, { body: { delay: '20m', retries: 1 } });
    await ask('DELETE', `/v2/messages/${one}`);
    await ask('DELETE', '/v2/messages', { body: { messageIds: [other] } });
    await ask('GET', `/v2/messages/${other}?state=ALL`);
    await ask('POST', `/v2/messages/${other}/publish`, { headers: { 'svc-delay': '10m' } });
    await askCompletions();

    const [first = '', second = ''] = await deadLettersOf(failing.url, 3);
    await ask('GET', '/v2/dlq/count');
    await ask('GET', `/v2/dlq/${first}`);
    await ask('DELETE', `/v2/dlq/${first}`);
    await ask('POST', `/v2/dlq/retry/${second}`, { headers: { 'svc-retries': '0' } });
    await ask('POST', `/v2/dlq/retry?url=${encodeURIComponent(failing.url)}`);
    await ask('DELETE', `/v2/dlq?url=${encodeURIComponent(failing.url)}`);

    const cron = { ...withCallbacks, 'svc-cron': '0 0 29 2 *', 'svc-schedule-id': group };
    await ask('POST', `/v2/schedules/${ok.url}`, { headers: cron, body: '{}' });
    await ask('GET', '/v2/schedules');
    await ask('GET', `/v2/cron?expression=${encodeURIComponent('*/5 * * * *')}`);
    await ask('GET', `/v2/schedules/${group}`);
    await ask('PATCH', `/v2/schedules/${group}`, { body: { headers: { 'Svc-Label': 'changed' } } });
    await ask('POST', `/v2/schedules/${group}/run`);
    for (const action of ['pause', 'resume']) {
      for (const method of ['POST', 'PATCH']) await ask(method, `/v2/schedules/${group}/${action}`);
    }
    await ask('GET', `/v2/schedules/${group}/fires`);
    await ask('GET', `/v2/schedules/${group}/next?count=2`);
    await ask('DELETE', `/v2/schedules/${group}`);

    await ask('GET', '/v2/logs');
    await ask('GET', '/v2/logs?count=2');
    await ask('GET', '/v2/events');

    const held = heldInbox(receiver);
    await askWorkflows(ask, group, { ok: ok.url, failing: `${failing.url}/run`, held: held.url });
    held.letGo();

    const inBackground = await ask('DELETE', '/v2/messages?label=nothing&background=true');
    const { bulkId } = z.object({ bulkId: z.string() }).parse(inBackground.json);
    await ask('POST', '/v2/messages/publish?label=nothing&background=true');
    await ask('GET', '/v2/bulk');
    await ask('GET', `/v2/bulk/${bulkId}`);
    await ask('DELETE', `/v2/bulk/${bulkId}`);
    await ask('POST', `/v2/bulk/${bulkId}/resume`);

    await ask('GET', '/v2/keys');
    await ask('GET', '/v2/tokens');
    const named = { name: 'described', scope: 'read' };
    const { id: tokenId } = madeToken.parse((await ask('POST', '/v2/tokens', { body: named })).json);
    await ask('POST', `/v2/tokens/${tokenId}/rotate`, { body: { overlap: '0s' } });
    await ask('DELETE', `/v2/tokens/${tokenId}`);
    await ask('GET', '/v2/search?q=desc');
    await ask('PUT', '/v2/alarms', { body: { url: ok.url, format: 'json', hosts: true } });
    await ask('GET', '/v2/alarms');
    await ask('POST', '/v2/alarms/test');
    await ask('DELETE', '/v2/alarms');
    await ask('GET', '/v2/stats');
    await ask('GET', '/v2/stats/attention');
    await ask('GET', '/v2/stats/hosts');
    await ask('GET', `/v2/stats/hosts?host=${new URL(ok.url).host}`);
    await ask('GET', '/v2/metrics');
    await ask('GET', '/v2/audit?count=5');

    const missing = routes
      .map(({ method, path }) => `${method} ${path}`)
      .filter((one) => !checked.has(one) && !aboutEvents.test(one));
    expect(missing).toEqual(unasked);
  });
});

describe('the description’s refusals', () => {
  it('are given without a token, and with the read-only token for a change', async () => {
    for (const { method, path, access } of routes) {
      const concrete = path.replace(/\{[^}]+\}/g, 'x');
      for (const [status, token] of [
        ...(access === 'open' ? [] : [[401, null] as const]),
        ...(access === 'write' ? [[403, service.readOnlyToken] as const] : []),
      ]) {
        const answer = await ask(method, concrete, { token });
        expect([method, path, answer.status]).toEqual([method, path, status]);
        expect(errorsOf(`${method} ${path}`, status)).toContain(errorOf(answer));
      }
    }
  });

  const many = { 'svc-retries': 'many' };
  const six = { 'svc-retries': '6' };
  const inside = 'http://10.0.0.1/';
  const tooMany = Array.from({ length: 101 }, (_, index) => ({ url: `https://example.com/${index}` }));
  const none = '01KDVDNA00M3A9X2C4D6F8GHJK';

  it.each<[status: number, method: string, path: string, init?: Init]>([
    [400, 'POST', '/v2/publish/https://example.com/', { headers: many }],
    [400, 'POST', '/v2/publish/orders!'],
    [403, 'POST', `/v2/publish/${inside}`],
    [404, 'POST', '/v2/publish/unknown'],
    [412, 'POST', '/v2/publish/https://example.com/', { headers: six }],
    [400, 'POST', '/v2/enqueue/mail/https://example.com/', { headers: many }],
    [404, 'POST', '/v2/enqueue/mail/unknown'],
    [400, 'POST', '/v2/batch', { body: {} }],
    [400, 'GET', '/v2/messages?state=DONE'],
    [400, 'GET', '/v2/messages/count?label='],
    [400, 'GET', '/v2/workflows/runs/count?workflowUrlExactMatch=yes'],
    [400, 'GET', '/v2/messages?count=500'],
    [404, 'GET', `/v2/messages/${messageId}`],
    [400, 'GET', `/v2/messages/${messageId}?state=DELIVERED`],
    [404, 'DELETE', `/v2/messages/${messageId}`],
    [400, 'POST', `/v2/messages/${messageId}/publish`, { headers: many }],
    [400, 'POST', `/v2/messages/${messageId}/publish`, { body: 'again' }],
    [403, 'POST', `/v2/messages/${messageId}/publish`, { headers: { 'svc-callback': inside } }],
    [404, 'POST', `/v2/messages/${messageId}/publish`],
    [412, 'POST', `/v2/messages/${messageId}/publish`, { headers: six }],
    [400, 'DELETE', '/v2/messages?label='],
    [400, 'GET', '/v2/logs?count=5000'],
    [400, 'GET', `/v2/logs?cursor=${none}`],
    [404, 'GET', '/v2/topics/orders'],
    [400, 'PATCH', '/v2/topics/orders', { body: { headers: { 'x-tenant': 'acme' } } }],
    [403, 'PATCH', '/v2/topics/orders', { body: { headers: { 'Svc-Callback': inside } } }],
    [404, 'PATCH', '/v2/topics/orders', { body: { headers: {} } }],
    [412, 'PATCH', '/v2/topics/orders', { body: { headers: { 'Svc-Retries': '6' } } }],
    [400, 'POST', '/v2/topics/orders/endpoints', { body: { endpoints: [{ url: 'example.com' }] } }],
    [403, 'POST', '/v2/topics/orders/endpoints', { body: { endpoints: [{ url: inside }] } }],
    [412, 'POST', '/v2/topics/orders/endpoints', { body: { endpoints: tooMany } }],
    [400, 'DELETE', '/v2/topics/orders/endpoints', { body: { endpoints: [{}] } }],
    [404, 'DELETE', '/v2/topics/orders/endpoints', { body: { endpoints: [{ name: 'missing' }] } }],
    [400, 'POST', '/v2/queues', { body: { queueName: 'mail!' } }],
    [400, 'POST', '/v2/queues', { body: { queueName: 'mail', parallelism: 0 } }],
    [412, 'POST', '/v2/queues', { body: { queueName: 'mail', parallelism: 200 } }],
    [404, 'GET', '/v2/queues/missing'],
    [404, 'DELETE', '/v2/queues/missing'],
    [404, 'POST', '/v2/queues/missing/pause'],
    [400, 'GET', '/v2/circuits?cursor=wrong'],
    [404, 'POST', '/v2/circuits/example.com/close'],
    [404, 'POST', '/v2/hosts/hooks.example.com/release'],
    [400, 'POST', '/v2/hosts/example.com%2Fhook/hold'],
    [400, 'POST', '/v2/labels/a%2Cb/hold'],
    [404, 'POST', '/v2/topics/orders/hold'],
    [404, 'POST', '/v2/topics/orders/release'],
    [400, 'GET', '/v2/flowControl?search='],
    [400, 'GET', '/v2/flowControl?prefix=a'],
    [404, 'GET', '/v2/flowControl/unknown'],
    [404, 'POST', '/v2/flowControl/unknown/pause'],
    [400, 'POST', '/v2/flowControl/unknown/pin'],
    [400, 'POST', '/v2/flowControl/unknown/pin?rate=1&period=8d'],
    [400, 'POST', '/v2/flowControl/unknown/pin?parallelism=1&period=1'],
    [404, 'POST', '/v2/flowControl/unknown/pin?parallelism=1'],
    [412, 'POST', '/v2/flowControl/unknown/pin?parallelism=200'],
    [400, 'POST', '/v2/flowControl/unknown/unpin'],
    [400, 'POST', '/v2/flowControl/unknown/unpin?rate=yes'],
    [404, 'POST', '/v2/flowControl/unknown/unpin?rate=true'],
    [404, 'POST', '/v2/flowControl/unknown/resetRate'],
    [400, 'PATCH', '/v2/schedules/nightly-report', { body: { headers: { 'Svc-Schedule-Id': 'other' } } }],
    [404, 'PATCH', '/v2/schedules/nightly-report', { body: {} }],
    [404, 'POST', '/v2/schedules/nightly-report/run'],
    [400, 'POST', '/v2/schedules/nightly-report/run', { body: 'again' }],
    [400, 'GET', '/v2/dlq?count=500'],
    [400, 'DELETE', '/v2/dlq?count=500'],
    [404, 'GET', `/v2/dlq/${dlqId}`],
    [404, 'DELETE', `/v2/dlq/${dlqId}`],
    [404, 'POST', `/v2/dlq/retry/${dlqId}`],
  ])('say what the service says: %i %s %s', async (status, method, path, init) => {
    const answer = await ask(method, path, init);
    expect(answer.status).toBe(status);
    expect(refusalsOf(operationOf(method, path), status)).toContainEqual(answer.json);
  });

  // The emulator’s gateway decodes paths before it matches them, unlike API Gateway.
  it.runIf(service.target === 'local')('say what is wrong with a path', async () => {
    const answer = await ask('GET', '/v2/dlq/50%');
    expect(answer.status).toBe(400);
    expect(errorsOf('GET /v2/dlq/{dlqId}', 400)).toContain(errorOf(answer));
  });
});
