import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import type { ErrorCode } from '../../lambdas/error/errorCodes.ts';
import { basic, makeAccount, manage, publishAs } from '../support/accounts.ts';
import { api, ok, unique } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { call, publish, refusalOf, service, type Answer } from '../support/publish.ts';

/** Gets nothing, because accepted messages are delayed longer than a test. */
const somewhere = 'https://example.com/hook';
const later = { 'Svc-Delay': '1h' };

const configured = (headers: Record<string, string>) => publish(somewhere, { headers });
const batchOf = (length: number) =>
  Array.from({ length }, () => ({ destination: somewhere, headers: later }));

type Refused = readonly [status: number, code: ErrorCode, what: string, ask: () => Promise<Answer>];

/** Each process of a function allows some requests before it knows of the others. */
async function untilRefused(send: () => Promise<Answer>): Promise<Answer> {
  for (let round = 0; round < 100; round += 1) {
    const answers = await Promise.all([send(), send(), send(), send()]);
    const refused = answers.find(({ status }) => status >= 400);
    if (refused !== undefined) return refused;
  }
  throw new Error('Nothing was refused.');
}

const malformed: readonly Refused[] = [
  [400, 'field_invalid', 'a header with a wrong value', () => configured({ 'Svc-Retries': 'many' })],
  [400, 'field_invalid', 'an empty filter', () => api('GET', '/v2/logs?label=')],
  [400, 'field_invalid', 'a missing header', () => api('POST', `/v2/schedules/${somewhere}`)],
  [400, 'field_invalid', 'a wrong name', () => api('POST', '/v2/queues', { body: { queueName: 'a b' } })],
  [400, 'field_invalid', 'a missing field', () => api('POST', '/v2/queues', { body: {} })],
  [400, 'field_unknown', 'an unknown filter', () => api('GET', '/v2/logs?colour=red')],
  [400, 'field_unknown', 'an unknown parameter', () => api('GET', '/v2/flowControl?colour=red')],
  [
    400,
    'field_unknown',
    'an unknown field',
    () => api('POST', '/v2/queues', { body: { queueName: 'q', colour: 'red' } }),
  ],
  [400, 'body_invalid', 'a body that is not JSON', () => call('/v2/batch', asSelf({ body: 'nonsense' }))],
  [400, 'body_invalid', 'a body that is no list', () => api('POST', '/v2/batch', { body: {} })],
  [400, 'body_invalid', 'a body that is no object', () => api('POST', '/v2/queues', { body: [] })],
  [400, 'request_malformed', 'a path with a bare %', () => api('GET', '/v2/queues/50%')],
  [400, 'cursor_invalid', 'a cursor that was made up', () => api('GET', '/v2/logs?cursor=nonsense')],
  [400, 'too_many_items', 'too many messages', () => api('POST', '/v2/batch', { body: batchOf(1_001) })],
  [400, 'destination_invalid', 'no destination', () => publish('orders!')],
  [400, 'destination_invalid', 'a callback elsewhere', () => configured({ 'Svc-Callback': 'ftp://x' })],
  [
    400,
    'cron_invalid',
    'a cron expression with a wrong minute',
    () => api('POST', `/v2/schedules/${somewhere}`, { headers: { 'Svc-Cron': '61 * * * *' } }),
  ],
  [400, 'retry_delay_invalid', 'an unknown function', () => configured({ 'Svc-Retry-Delay': 'eval(1)' })],
  [400, 'workflow_request_invalid', 'a run at a URL group', () => api('POST', '/v2/trigger/a-group')],
  [
    400,
    'run_ended',
    'a step of a run that is not there',
    () => configured({ 'Svc-Workflow-Init': 'false', 'Svc-Workflow-RunId': unique('wfr') }),
  ],
];

const asSelf = (init: RequestInit): RequestInit => ({
  method: 'POST',
  headers: { authorization: `Bearer ${service.token}` },
  ...init,
});

const notAllowed: readonly Refused[] = [
  [401, 'token_missing', 'a request without a token', () => publish(somewhere, { token: null })],
  [401, 'token_invalid', 'a token that is none', () => publish(somewhere, { token: 'nonsense' })],
  [401, 'token_invalid', 'another password', () => publish(somewhere, { token: forged() })],
  [
    401,
    'account_inactive',
    'an account that was suspended',
    async () => publishAs(await makeAccount({ active: false }), somewhere),
  ],
  [
    401,
    'wrong_region',
    'an account of another region',
    async () => {
      const account = await makeAccount({ region: service.otherRegion });
      return eventually(
        () => publishAs(account, somewhere),
        // The row takes a moment from region to region.
        (answer) => refusalOf(answer).code !== 'token_invalid',
      );
    },
  ],
  [
    403,
    'token_read_only',
    'a change with the read-only token',
    () => publish(somewhere, { token: service.readOnlyToken }),
  ],
  [403, 'destination_not_allowed', 'a private address', () => publish('http://10.0.0.1/')],
  [403, 'delivery_loop', 'the service itself', () => publish(`${service.url}/v2/publish/x`)],
];

const forged = (): string => {
  const token: unknown = JSON.parse(Buffer.from(service.token, 'base64').toString());
  const parts = z.looseObject({ UserID: z.string() }).parse(token);
  return Buffer.from(JSON.stringify({ ...parts, Password: 'guess' })).toString('base64');
};

const nobody = '00000000-0000-4000-8000-000000000000';
const notThere: readonly Refused[] = [
  [404, 'path_not_found', 'another brand', () => manage('GET', '/v2/acme/users')],
  [404, 'message_not_found', 'a message', () => api('GET', '/v2/messages/msg_0')],
  [404, 'dead_letter_not_found', 'a dead letter', () => api('GET', '/v2/dlq/dlq_0')],
  [404, 'dead_letter_not_found', 'a retry', () => api('POST', '/v2/dlq/retry/dlq_0')],
  [404, 'dead_letter_not_found', 'a failed run', () => api('POST', '/v2/workflows/dlq/resume/dlq_0')],
  [404, 'url_group_not_found', 'a URL group', () => api('GET', `/v2/topics/${unique('group')}`)],
  [404, 'url_group_not_found', 'a group as a destination', () => publish(unique('group'))],
  [404, 'queue_not_found', 'a queue', () => api('GET', `/v2/queues/${unique('queue')}`)],
  [404, 'flow_control_key_not_found', 'a key', () => api('GET', `/v2/flowControl/${unique('key')}`)],
  [404, 'schedule_not_found', 'a schedule', () => api('GET', `/v2/schedules/${unique('schedule')}`)],
  [404, 'run_not_found', 'a run', () => api('GET', `/v2/workflows/runs/${unique('wfr')}`)],
  [404, 'webhook_not_found', 'a webhook', () => call(`/v2/workflows/hooks/${nobody}/run/event`)],
  [404, 'account_not_found', 'an account', () => manage('GET', `/v2/svc/users/${nobody}`)],
  [404, 'alarms_not_set', 'a test without alarms', () => api('POST', '/v2/alarms/test')],
  [404, 'file_not_found', 'a file of the console', () => call('/console/app-0000000000.js')],
  [
    404,
    'endpoint_not_found',
    'an endpoint',
    async () => {
      const path = `/v2/topics/${unique('group')}/endpoints`;
      await ok(api('POST', path, { body: { endpoints: [{ url: somewhere }] } }));
      return api('DELETE', path, { body: { endpoints: [{ name: 'missing' }] } });
    },
  ],
  [
    409,
    'account_exists',
    'an account that is there already',
    async () => manage('POST', '/v2/svc/users', { body: { id: (await makeAccount()).id } }),
  ],
];

const limited =
  (limits: Readonly<Record<string, number>>, ask: (token: string) => Promise<Answer>) =>
  async (): Promise<Answer> =>
    ask((await makeAccount(limits)).token);

const publishing = (limits: Readonly<Record<string, number>>, headers: Record<string, string>) =>
  limited(limits, (token) => publish(somewhere, { token, headers }));

const overLimits: readonly Refused[] = [
  [412, 'retries_over_limit', 'retries', publishing({ max_retries: 2 }, { 'Svc-Retries': '3' })],
  [412, 'delay_over_limit', 'a delay', publishing({ max_delay: 60 }, { 'Svc-Delay': '61s' })],
  [
    412,
    'parallelism_over_limit',
    'parallelism',
    publishing(
      { max_parallelism: 3 },
      { 'Svc-Flow-Control-Key': 'k', 'Svc-Flow-Control-Value': 'parallelism=4' },
    ),
  ],
  [
    412,
    'queue_limit_reached',
    'queues',
    limited({ max_queues: 0 }, (token) =>
      api('POST', '/v2/queues', { token, body: { queueName: unique('queue') } }),
    ),
  ],
  [
    412,
    'url_group_limit_reached',
    'URL groups',
    limited({ max_topics: 0 }, (token) =>
      api('POST', '/v2/topics/group/endpoints', { token, body: { endpoints: [{ url: somewhere }] } }),
    ),
  ],
  [
    412,
    'endpoint_limit_reached',
    'endpoints',
    limited({ max_endpoints_per_topic: 1 }, (token) => {
      const endpoints = [1, 2].map((number) => ({ url: `${somewhere}/${number}` }));
      return api('POST', '/v2/topics/group/endpoints', { token, body: { endpoints } });
    }),
  ],
  [
    412,
    'schedule_limit_reached',
    'schedules',
    limited({ max_schedules: 0 }, (token) =>
      api('POST', `/v2/schedules/${somewhere}`, { token, headers: { 'Svc-Cron': '0 0 29 2 *' } }),
    ),
  ],
  [412, 'submission_refused', 'characters of an event', () => api('POST', `/v2/notify/${'e'.repeat(257)}`)],
  [
    413,
    'body_too_large',
    'bytes of a body',
    limited({ max_message_size: 1 }, (token) => publish(somewhere, { token, body: 'ab' })),
  ],
  [429, 'daily_limit_reached', 'messages in a day', publishing({ max_requests_per_day: 0 }, later)],
  [
    429,
    'rate_limit_reached',
    'requests in a second',
    limited({ max_requests_per_second: 1 }, (token) => untilRefused(() => api('GET', '/v2/logs', { token }))),
  ],
  [
    429,
    'bandwidth_limit_reached',
    'bytes in a second',
    limited({ max_bandwidth_per_second: 100 }, (token) =>
      untilRefused(() => publish(somewhere, { token, headers: later, body: 'x'.repeat(1_000) })),
    ),
  ],
];

const expectRefusal = async (ask: () => Promise<Answer>, status: number, code: ErrorCode): Promise<void> => {
  const answer = await ask();
  expect([answer.status, refusalOf(answer)]).toEqual([
    status,
    { error: expect.stringMatching(/./) as string, code },
  ]);
};

describe('a refusal has a code if the request', () => {
  it.each(malformed)('is malformed, %i %s: %s', (status, code, _, ask) => expectRefusal(ask, status, code));
  it.each(notAllowed)('is not allowed, %i %s: %s', (status, code, _, ask) =>
    expectRefusal(ask, status, code),
  );
  it.each(notThere)('concerns something missing or existing, %i %s: %s', (status, code, _, ask) =>
    expectRefusal(ask, status, code),
  );
  it.each(overLimits)('exceeds a limit, %i %s: %s', (status, code, _, ask) =>
    expectRefusal(ask, status, code),
  );
});

describe('each refused message of a batch', () => {
  const entry = z.array(z.object({ code: z.optional(z.string()), status: z.optional(z.int()) }));

  it('has a separate code and status', async () => {
    const body = [
      { destination: somewhere, headers: later },
      { destination: somewhere, headers: { 'Svc-Delay': 'soon' } },
      { destination: unique('group') },
      { destination: 'http://10.0.0.1/' },
      { destination: somewhere, queue: 7 },
    ];
    expect(entry.parse(await ok(api('POST', '/v2/batch', { body })))).toEqual([
      {},
      { code: 'field_invalid', status: 400 },
      { code: 'url_group_not_found', status: 404 },
      { code: 'destination_not_allowed', status: 403 },
      { code: 'field_invalid', status: 400 },
    ]);
  });

  it('has one if the month’s budget does not suffice for all', async () => {
    const { token } = await makeAccount({ budget: 1 });
    const answers = entry.parse(await ok(api('POST', '/v2/batch', { token, body: batchOf(50) })));
    expect(answers.at(-1)).toEqual({ code: 'budget_reached', status: 412 });
  });
});

describe('the credentials of the management API', () => {
  const { user } = service.management;

  // The emulator’s gateway does not put an authorizer’s sentence into its answer, unlike AWS.
  it.runIf(service.target === 'local').each<[authorization: string | null, code: ErrorCode]>([
    [null, 'credentials_missing'],
    ['Bearer token', 'credentials_invalid'],
    [basic(user, 'guess'), 'credentials_invalid'],
  ])('are refused with a code: %s', async (authorization, code) => {
    await expectRefusal(() => manage('GET', '/v2/svc/users', { authorization }), 401, code);
  });
});

describe('refusals of the gateway', () => {
  it.each<Refused>([
    [404, 'path_not_found', 'a path that is none', () => api('GET', '/v2/nothing')],
    [405, 'method_not_allowed', 'a method that is none', () => api('DELETE', '/v2/logs')],
  ])('has a code, %i %s: %s', (status, code, _, ask) => expectRefusal(ask, status, code));

  it.runIf(service.target === 'local').each<Refused>([
    [413, 'body_too_large', 'a body', () => publish(somewhere, { body: 'x'.repeat(6_000_000) })],
    [431, 'head_too_large', 'headers', () => configured({ 'X-Large': 'x'.repeat(10_240) })],
  ])('because it is too large has a code, %i %s: %s', (status, code, _, ask) =>
    expectRefusal(ask, status, code),
  );
});
