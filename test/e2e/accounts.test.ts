import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { basic, changeAccount, makeAccount, manage, publishAs, recordOf } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import { checkAnswer } from '../support/contract.ts';
import { eventually } from '../support/eventually.ts';
import { errorOf, messageIdOf, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';

const receiver = useReceiver();

const users = '/v2/svc/users';
const nobody = randomUUID();
const list = z.array(z.looseObject({ id: z.string() }));
const keys = z.object({ current: z.string(), next: z.string() });

/** The contract’s fields: names, types, and which are optional. */
const contract = z.strictObject({
  customer_id: z.optional(z.string()),
  id: z.uuid(),
  token: z.string(),
  read_only_token: z.string(),
  active: z.boolean(),
  state: z.string(),
  modifying_state: z.optional(z.string()),
  last_plan_upgrade_time: z.optional(z.int()),
  max_message_size: z.int(),
  max_requests_per_day: z.int(),
  max_requests_per_day_hard: z.int(),
  max_endpoints_per_topic: z.int(),
  max_requests_per_second: z.int(),
  max_dlq_size: z.int(),
  max_retries: z.int(),
  max_topics: z.int(),
  max_schedules: z.int(),
  max_events_size: z.int(),
  max_dlq_retention_time_milis: z.int(),
  log_retention_days: z.int(),
  max_delay: z.int(),
  max_parallelism: z.int(),
  max_global_parallelism: z.int(),
  max_queues: z.int(),
  max_bandwidth_per_second: z.int(),
  prod_pack_enabled: z.boolean(),
  prometheus_enabled: z.enum(['true', 'false']),
  timeout: z.int(),
  type: z.enum(['free', 'paid']),
  region: z.enum(['eu-central-1', 'us-east-1']),
  reserved_type: z.optional(z.string()),
  reserved_price: z.optional(z.int()),
  created_by: z.optional(z.string()),
  creation_time: z.int(),
  deletion_time: z.int(),
  budget: z.int(),
  enterprise: z.optional(z.object({ enabled: z.boolean() })),
  circuit: z.optional(z.object({ enabled: z.boolean(), failures: z.optional(z.number()) })),
  lambda_destinations: z.optional(z.array(z.string())),
  failure_callback: z.optional(z.string()),
});

describe('an account', () => {
  it('is created with its plan’s limits, and has the fields of the contract', async () => {
    const before = Math.floor(Date.now() / 1000);
    const answer = await manage('POST', users, { body: { customer_id: 'a@example.com', type: 'free' } });
    expect(answer.status).toBe(200);
    checkAnswer('POST /v2/{brand}/users', answer);
    const account = contract.parse(answer.json);
    expect(account).toMatchObject({
      customer_id: 'a@example.com',
      active: true,
      state: 'active',
      type: 'free',
      timeout: 30,
      max_retries: 3,
      max_message_size: 1_048_576,
      max_requests_per_day: 1_000,
      max_requests_per_day_hard: 10_000,
      prometheus_enabled: 'false',
      deletion_time: 0,
      budget: 0,
    });
    expect(account.creation_time).toBeGreaterThanOrEqual(before - 1);
    expect(answer.json).not.toHaveProperty('modifying_state');
    expect(answer.json).not.toHaveProperty('enterprise');
    expect(answer.json).not.toHaveProperty('last_plan_upgrade_time');
  });

  it('can be created without fields, as a free one', async () => {
    const answer = await manage('POST', users, { body: {} });
    expect(contract.parse(answer.json).type).toBe('free');
  });

  it('is shown singly and in the list', async () => {
    const account = await makeAccount();
    const one = await manage('GET', `${users}/${account.id}`);
    checkAnswer('GET /v2/{brand}/users/{id}', one);
    expect(one.json).toEqual(account);
    const all = await manage('GET', users);
    checkAnswer('GET /v2/{brand}/users', all);
    expect(list.parse(all.json).filter(({ id }) => id === account.id)).toEqual([account]);
  });

  it('has a token that may publish, and a read-only token that may not', async () => {
    const account = await makeAccount();
    const inbox = receiver.inbox();
    messageIdOf(await publishAs(account, inbox.url, { body: 'hello' }));
    const [delivery] = await inbox.received(1);
    expect(delivery?.headers['svc-region']).toBe(service.region);
    const refused = await publishAs({ token: account.read_only_token }, inbox.url);
    expect(refused.status).toBe(403);
    expect((await api('GET', '/v2/logs', { token: account.read_only_token })).status).toBe(200);
  });

  it('may be given its id, so that creating it twice makes one', async () => {
    const id = randomUUID();
    expect((await makeAccount({ id })).id).toBe(id);
    const again = await manage('POST', users, { body: { id } });
    expect([again.status, errorOf(again)]).toEqual([409, `There is an account "${id}" already.`]);
  });

  it('is listed page by page if a page is requested', async () => {
    const mine = [await makeAccount(), await makeAccount(), await makeAccount()].map(({ id }) => id);
    const seen: string[] = [];
    let path: string | undefined = `${users}?count=2`;
    while (path !== undefined) {
      const answer = await manage('GET', path);
      const page = list.parse(answer.json);
      expect(page.length).toBeLessThanOrEqual(2);
      seen.push(...page.map(({ id }) => id));
      const next = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
      path = next === undefined ? undefined : `${users}${next}`;
    }
    expect(mine.every((id) => seen.includes(id))).toBe(true);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('has the other dialect’s paths, too', async () => {
    const account = await makeAccount();
    expect((await manage('GET', `/v2/qstash/users/${account.id}`)).json).toEqual(account);
    const other = await manage('GET', `/v2/other/users/${account.id}`);
    expect(other.status).toBe(404);
  });
});

describe('a change of an account', () => {
  it('sets only the fields that it names', async () => {
    const account = await makeAccount({ type: 'free' });
    const fields = {
      customer_id: 'team-7',
      created_by: 'admin@example.com',
      budget: 20,
      max_retries: 9,
      max_delay: 60,
      reserved_type: 'enterprise:acme',
      reserved_price: 100,
      prod_pack_enabled: true,
      prometheus_enabled: 'true',
      enterprise: { enabled: true },
    };
    const changed = await changeAccount(account.id, fields);
    expect(changed).toEqual({ ...account, ...fields });
    expect(contract.parse(changed)).toEqual(changed);
    expect((await manage('GET', `${users}/${account.id}`)).json).toEqual(changed);
  });

  it('to the paid plan is recorded with its time, and sets that plan’s limits', async () => {
    const account = await makeAccount({ type: 'free', max_retries: 4 });
    const changed = contract.parse(await changeAccount(account.id, { type: 'paid' }));
    expect(changed).toMatchObject({ type: 'paid', timeout: 840, max_retries: 4 });
    expect(Math.abs((changed.last_plan_upgrade_time ?? 0) - Date.now() / 1000)).toBeLessThan(60);
  });

  it('to null restores the plan’s value', async () => {
    const account = await makeAccount({
      max_retries: 1,
      reserved_type: 'svc_fixed',
      enterprise: { enabled: false },
    });
    const changed = await changeAccount(account.id, {
      max_retries: null,
      reserved_type: null,
      enterprise: null,
    });
    expect(changed['max_retries']).toBe(5);
    expect(changed).not.toHaveProperty('reserved_type');
    expect(changed).not.toHaveProperty('enterprise');
  });

  it('to null changes nothing if the plan has no value', async () => {
    const fields = {
      customer_id: 'null@example.com',
      created_by: 'operator@example.com',
      type: 'paid',
      region: service.region,
      active: false,
      state: 'passive',
      budget: 7,
      prod_pack_enabled: true,
      prometheus_enabled: 'true',
    };
    const nulls = Object.fromEntries(Object.keys(fields).map((name) => [name, null]));
    const account = await makeAccount(fields);
    expect(await changeAccount(account.id, nulls)).toMatchObject(fields);
    const made = contract.parse((await manage('POST', users, { body: { ...nulls, id: null } })).json);
    expect(made).toMatchObject({ type: 'free', active: true, state: 'active', budget: 0 });
  });

  it('applies from the next request on', async () => {
    const account = await makeAccount();
    await changeAccount(account.id, { max_retries: 2 });
    const answer = await publishAs(account, 'https://example.com', { headers: { 'Svc-Retries': '3' } });
    expect([answer.status, errorOf(answer)]).toEqual([
      412,
      "Svc-Retries is 3, but the account's limit max_retries is 2.",
    ]);
  });

  it.each([
    [
      { max_retries: -1 },
      "max_retries is -1; allowed is a whole number from 0 to 100, or null for the plan's own.",
    ],
    [{ max_retries: 101 }, 'max_retries is 101; allowed is'],
    [{ max_retries: 2.5 }, 'max_retries is 2.5; allowed is'],
    [{ max_retries: '3' }, 'max_retries is "3"; allowed is'],
    [{ timeout: 43_201 }, 'timeout is 43201; allowed is a whole number from 1 to '],
    [
      { max_message_size: 4_194_305 },
      'max_message_size is 4194305; allowed is a whole number from 1 to 4194304',
    ],
    [{ budget: -5 }, 'budget is -5; allowed is a whole number of dollars'],
    [{ type: 'gold' }, 'type is "gold"; allowed is free or paid.'],
    [{ region: 'mars-1' }, 'region is "mars-1"; allowed is eu-central-1 or us-east-1.'],
    [{ active: 'yes' }, 'active is "yes"; allowed is true or false.'],
    [{ state: 'deleted' }, 'state is "deleted"; allowed is active or passive.'],
    [{ active: true, state: 'passive' }, 'active and state contradict each other'],
    [
      { prometheus_enabled: true },
      'prometheus_enabled is true; allowed is the text "true" or the text "false".',
    ],
    [{ reserved_type: 'cheap' }, 'reserved_type is "cheap"; allowed is svc_fixed_1m'],
    [
      { enterprise: { enabled: 1 } },
      'enterprise is {"enabled":1}; allowed is {"enabled": true or false}, or null.',
    ],
    [{ customer_id: '' }, 'customer_id is ""; allowed is a text of 1 to 320 characters'],
    [{ customer_id: 'a\ud83d' }, 'customer_id is "a\\ud83d"; allowed is a text of 1 to 320 characters'],
    [{ created_by: '\ude00' }, 'created_by is "\\ude00"; allowed is a text of 1 to 320 characters'],
    [{ region: '\ud83d' }, 'region is "\\ud83d"; allowed is eu-central-1 or us-east-1.'],
    [
      { max_requests_per_day: 100, max_requests_per_day_hard: 99 },
      'max_requests_per_day_hard is 99; allowed is 100',
    ],
    [{ token: 'mine' }, '"token" is not a field that can be set; allowed are customer_id,'],
    [{ id: randomUUID() }, '"id" is not a field that can be set'],
    ['{"toString":1}', '"toString" is not a field that can be set'],
    ['{"__proto__":1}', '"__proto__" is not a field that can be set'],
    [{ max_fun: 1 }, '"max_fun" is not a field that can be set'],
    [[1], 'The body is not a JSON object; allowed are the fields'],
    ['null', 'The body is not a JSON object'],
    ['{', 'The body is not JSON.'],
  ])('of %j is refused with 400, and changes nothing', async (body, sentence) => {
    const account = await makeAccount();
    const answer = await manage('PATCH', `${users}/${account.id}`, { body });
    expect(errorOf(answer)).toContain(sentence);
    expect(answer.status).toBe(400);
    expect((await manage('GET', `${users}/${account.id}`)).json).toEqual(account);
  });

  it('may be made by many at once without losing one', async () => {
    const account = await makeAccount();
    const fields = ['max_retries', 'max_delay', 'max_topics', 'budget'];
    await Promise.all(fields.map((field) => changeAccount(account.id, { [field]: 7 })));
    expect((await manage('GET', `${users}/${account.id}`)).json).toEqual({
      ...account,
      ...Object.fromEntries(fields.map((field) => [field, 7])),
    });
  });
});

describe('a missing resource', () => {
  it.each([
    ['GET', `${users}/${nobody}`],
    ['PATCH', `${users}/${nobody}`],
    ['DELETE', `${users}/${nobody}`],
    ['POST', `/v2/svc/rotate-token/${nobody}`],
    ['GET', `/v2/svc/stats/${nobody}`],
  ])('is answered with 404: %s %s', async (method, path) => {
    const answer = await manage(method, path, { ...(method === 'PATCH' && { body: { budget: 1 } }) });
    expect([answer.status, errorOf(answer)]).toEqual([404, `There is no account "${nobody}".`]);
  });

  it('may have an invalid or too long id', async () => {
    for (const id of ['nobody', 'x'.repeat(3_000)]) {
      expect((await manage('GET', `${users}/${id}`)).status).toBe(404);
      expect((await manage('GET', `/v2/svc/stats/${id}`)).status).toBe(404);
    }
    const token = Buffer.from(JSON.stringify({ UserID: 'x'.repeat(3_000), Password: 'x' })).toString(
      'base64',
    );
    expect((await api('GET', '/v2/logs', { token })).status).toBe(401);
  });

  it('is not a path of the management API', async () => {
    expect((await manage('GET', '/v2/svc/nothing')).status).toBe(404);
    expect((await manage('PUT', `${users}/${nobody}`)).status).toBe(405);
  });

  it.each([
    ['GET', '/v2/svc/nothing', 404],
    ['PUT', `${users}/${nobody}`, 405],
    ['GET', `${users}/${nobody}`, 401],
    ['GET', '/v2/svc/openapi.json', 200],
  ])(
    'is answered without credentials only if there is nothing to protect: %s %s',
    async (method, path, status) => {
      const answer = await manage(method, path, { authorization: null });
      expect(answer.status).toBe(status);
    },
  );

  it.each([
    [{ id: 'me' }, 'id is "me"; allowed is a UUID.'],
    [{ type: 'free', price: 3 }, '"price" is not a field that can be set'],
    [[], 'The body is not a JSON object'],
    ['nonsense', 'The body is not JSON.'],
  ])('cannot be created from %j', async (body, sentence) => {
    const answer = await manage('POST', users, { body });
    expect(errorOf(answer)).toContain(sentence);
    expect(answer.status).toBe(400);
  });

  it.each(['count=0', 'count=2001', 'count=x', 'count=0x10', 'region=mars-1', 'after=', 'page=2'])(
    'cannot be listed: ?%s',
    async (query) => {
      expect((await manage('GET', `${users}?${query}`)).status).toBe(400);
    },
  );
});

describe('the credentials of the management API', () => {
  const { user, password } = service.management;
  it.each([
    ['missing', null, /^The credentials are missing; send them as the header Authorization: Basic/],
    ['a bearer token', `Bearer ${service.token}`, /^The header Authorization is malformed/],
    ['not base64', 'Basic ***', /^The header Authorization is malformed/],
    [
      'without a colon',
      `Basic ${Buffer.from('admin').toString('base64')}`,
      /^The header Authorization is malformed/,
    ],
    ['of another user', basic('root', password), /^The user name or the password is wrong\.$/],
    ['with another password', basic(user, 'guess'), /^The user name or the password is wrong\.$/],
  ])('are refused if they are %s', async (_, authorization, sentence) => {
    const answer = await manage('GET', users, { authorization });
    expect(answer.status).toBe(401);
    // The emulator’s gateway does not put an authorizer’s sentence into its answer, unlike AWS.
    if (service.target === 'local') expect(errorOf(answer)).toMatch(sentence);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm=/);
  });

  it('are not valid for messages', async () => {
    const headers = { authorization: basic(user, password) };
    const response = await fetch(`${service.url}/v2/logs`, { headers });
    expect(response.status).toBe(401);
  });

  it('are not needed for its description', async () => {
    const answer = await manage('GET', '/v2/svc/openapi.json', { authorization: null });
    expect([
      answer.status,
      z.looseObject({ info: z.looseObject({ version: z.string() }) }).parse(answer.json).info.version,
    ]).toEqual([200, '1.0.0']);
  });
});

describe('a reset of the tokens', () => {
  it('makes the old ones invalid with its answer', async () => {
    const before = await makeAccount();
    const answer = await manage('POST', `/v2/svc/rotate-token/${before.id}`);
    checkAnswer('POST /v2/{brand}/rotate-token/{id}', answer);
    const after = recordOf(answer);
    expect(after).toEqual({ ...before, token: after.token, read_only_token: after.read_only_token });
    for (const token of [before.token, before.read_only_token]) {
      const refused = await api('GET', '/v2/logs', { token });
      expect([refused.status, errorOf(refused)]).toEqual([401, 'The token is not valid.']);
    }
    for (const token of [after.token, after.read_only_token]) {
      expect((await api('GET', '/v2/logs', { token })).status).toBe(200);
    }
  });

  it('does not affect messages that were accepted before', async () => {
    const account = await makeAccount();
    const inbox = receiver.inbox();
    messageIdOf(await publishAs(account, inbox.url, { headers: { 'Svc-Delay': '2s' } }));
    await manage('POST', `/v2/svc/rotate-token/${account.id}`);
    await inbox.received(1);
  });

  it('under load accepts no request with the old token after its answer', async () => {
    const account = await makeAccount();
    // The emulator starts a process for each parallel request.
    const perSecond = service.target === 'local' ? 200 : 40;
    let isAnswered = false;
    const outcomes: { readonly sentAfter: boolean; readonly status: number }[] = [];
    const requests: Promise<void>[] = [];
    const rotation = { done: Promise.resolve() };
    for (let number = 0; number < perSecond; number += 1) {
      const sentAfter = isAnswered;
      requests.push(
        publishAs(account, 'https://example.com', { headers: { 'Svc-Delay': '1h' } }).then(({ status }) => {
          outcomes.push({ sentAfter, status });
        }),
      );
      if (number === perSecond / 4) {
        rotation.done = manage('POST', `/v2/svc/rotate-token/${account.id}`).then(({ status }) => {
          if (status !== 200) throw new Error(`Status ${status}`);
          isAnswered = true;
        });
      }
      // Five milliseconds between requests.
      await new Promise((next) => setTimeout(next, 1000 / perSecond));
    }
    await Promise.all([rotation.done, ...requests]);
    // On a slow machine the answer may have come after all other requests.
    for (let number = 0; number < 20; number += 1) {
      const { status } = await publishAs(account, 'https://example.com', { headers: { 'Svc-Delay': '1h' } });
      outcomes.push({ sentAfter: true, status });
    }
    const after = outcomes.filter(({ sentAfter }) => sentAfter);
    expect(new Set(after.map(({ status }) => status))).toEqual(new Set([401]));
    expect(outcomes.some(({ status }) => status === 200)).toBe(true);
    if (service.target === 'local') {
      expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set([200, 401]));
    }
  });
});

describe('signing keys', () => {
  const keysOf = async (token: string) => keys.parse(await ok(api('GET', '/v2/keys', { token })));

  it('are shown to a read-only token', async () => {
    const account = await makeAccount();
    const shown = await keysOf(account.token);
    expect(await keysOf(account.read_only_token)).toEqual(shown);
    expect(shown.current).toMatch(/^whsec_/);
    expect(shown.next).not.toBe(shown.current);
  });

  it('move up at a rotation, which requires the full token', async () => {
    const account = await makeAccount();
    const before = await keysOf(account.token);
    expect((await api('POST', '/v2/keys/rotate', { token: account.read_only_token })).status).toBe(403);
    const answer = await api('POST', '/v2/keys/rotate', { token: account.token });
    checkAnswer('POST /v2/keys/rotate', answer);
    const after = keys.parse(answer.json);
    expect(after.current).toBe(before.next);
    expect(new Set([before.current, before.next, after.next]).size).toBe(3);
    expect(await keysOf(account.token)).toEqual(after);
  });

  it('may be rotated by several at once, one step each', async () => {
    const account = await makeAccount();
    const before = await keysOf(account.token);
    const rotations = await Promise.all(
      [1, 2, 3].map(async () =>
        keys.parse(await ok(api('POST', '/v2/keys/rotate', { token: account.token }))),
      ),
    );
    expect(new Set(rotations.map(({ current }) => current)).size).toBe(3);
    expect(rotations.map(({ current }) => current)).toContain(before.next);
  });
});

describe('statistics', () => {
  const stats = z.looseObject({
    daily_requests: z.array(z.object({ x: z.string(), y: z.number() })),
    total_monthly_requests: z.number(),
    total_monthly_messages: z.number(),
    total_monthly_billing: z.number(),
  });

  it('count the sent messages, including callbacks', async () => {
    const account = await makeAccount();
    const inbox = receiver.inbox();
    for (const body of ['1', '2', '3', '4']) {
      messageIdOf(await publishAs(account, inbox.url, { body, headers: { 'Svc-Callback': inbox.url } }));
    }
    await inbox.received(8);
    const shown = await eventually(
      async () => {
        const answer = await manage('GET', `/v2/svc/stats/${account.id}`);
        checkAnswer('GET /v2/{brand}/stats/{id}', answer);
        return stats.parse(answer.json);
      },
      // A process writes its count in steps of a few messages.
      ({ total_monthly_messages: messages }) => messages >= 5,
    );
    const upperCase = await manage('GET', `/v2/svc/stats/${account.id.toUpperCase()}`);
    expect(stats.parse(upperCase.json)).toEqual(shown);
    expect(shown.daily_requests).toHaveLength(30);
    expect(shown.daily_requests.at(-1)?.y).toBe(shown.total_monthly_requests);
    // The count may be half a step too high or too low.
    expect(Math.abs(shown.total_monthly_requests - 4)).toBeLessThanOrEqual(3);
    expect(shown.total_monthly_billing).toBeCloseTo(shown.total_monthly_messages * 0.1);
  });
});
