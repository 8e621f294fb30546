import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { basic, changeAccount, makeAccount, manage, publishAs, recordOf } from '../support/accounts.ts';
import { api, ok, query } from '../support/api.ts';
import { checkAnswer } from '../support/contract.ts';
import { eventually } from '../support/eventually.ts';
import { errorOf, messageIdOf, service } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { expectRefusal } from '../support/refusals.ts';

const receiver = useReceiver();

const users = '/v2/svc/users';
const nobody = randomUUID();
const list = z.array(z.looseObject({ id: z.string() }));
const keys = z.object({ current: z.string(), next: z.string() });

describe('an account', () => {
  it('is created with its plan’s limits, and has the fields of the contract', async () => {
    const before = Math.floor(Date.now() / 1000);
    const answer = await manage('POST', users, { body: { customer_id: 'a@example.com' } });
    checkAnswer('POST /v2/{brand}/users', answer);
    const account = recordOf(answer);
    expect(account).toMatchObject({
      ...{ customer_id: 'a@example.com', active: true, state: 'active', type: 'free' },
      ...{ timeout: 30, max_retries: 3, max_message_size: 1_048_576 },
      ...{ max_requests_per_day: 1_000, max_requests_per_day_hard: 10_000 },
      ...{ prometheus_enabled: 'false', deletion_time: 0, budget: 0 },
    });
    expect(account['creation_time']).toBeGreaterThanOrEqual(before - 1);
    for (const name of ['modifying_state', 'enterprise', 'last_plan_upgrade_time'])
      expect(account).not.toHaveProperty(name);
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
    await expectRefusal(manage('POST', users, { body: { id } }), 409, `There is an account "${id}" already.`);
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

  it('is found by a part of its customer, creator or id, in any case, page by page', async () => {
    const name = `東京 ${randomUUID()} Shop`;
    const mine = [
      await makeAccount({ customer_id: `1 ${name}` }),
      await makeAccount({ customer_id: `2 ${name}` }),
      await makeAccount({ customer_id: `3 ${name}` }),
    ].map(({ id }) => id);
    const find = async (search: string) =>
      list.parse((await manage('GET', `${users}${query({ search })}`)).json).map(({ id }) => id);
    expect((await find(name.toUpperCase())).toSorted()).toEqual(mine.toSorted());
    expect(await find(mine[0]?.slice(2).toUpperCase() ?? '')).toEqual([mine[0]]);
    expect(await find(randomUUID())).toEqual([]);
    await expectRefusal(manage('GET', `${users}?search=%20`), 400, 'search is " "; allowed is a text');
    const seen: string[] = [];
    let path: string | undefined = `${users}${query({ search: name, count: 2 })}`;
    while (path !== undefined) {
      const answer = await manage('GET', path);
      seen.push(...list.parse(answer.json).map(({ id }) => id));
      const next = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1];
      path = next === undefined ? undefined : `${users}${next}`;
    }
    expect(seen.toSorted()).toEqual(mine.toSorted());
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
    expect((await manage('GET', `${users}/${account.id}`)).json).toEqual(changed);
  });

  it('applies from the next request on', async () => {
    const account = await makeAccount();
    await changeAccount(account.id, { max_retries: 2 });
    await expectRefusal(
      publishAs(account, 'https://example.com', { headers: { 'Svc-Retries': '3' } }),
      412,
      "Svc-Retries is 3, but the account's limit max_retries is 2.",
    );
  });

  it.each([
    [{ max_retries: 101 }, 'max_retries is 101; allowed is a whole number from 0 to 100'],
    [{ customer_id: 'a\ud83d' }, 'customer_id is "a\\ud83d"; allowed is a text of 1 to 320 characters'],
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
    await expectRefusal(
      manage(method, path, { ...(method === 'PATCH' && { body: { budget: 1 } }) }),
      404,
      `There is no account "${nobody}".`,
    );
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

  it.each(['count=2001', 'region=mars-1', 'after=', 'page=2'])('cannot be listed: ?%s', async (query) => {
    expect((await manage('GET', `${users}?${query}`)).status).toBe(400);
  });
});

describe('the credentials of the management API', () => {
  const { user, password } = service.management;
  it.each([
    ['missing', null, /^The credentials are missing; send them as the header Authorization: Basic/],
    ['a bearer token', `Bearer ${service.token}`, /^The header Authorization is malformed/],
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
});

describe('a reset of the tokens', () => {
  it('makes the old ones invalid with its answer', async () => {
    const before = await makeAccount();
    const answer = await manage('POST', `/v2/svc/rotate-token/${before.id}`);
    checkAnswer('POST /v2/{brand}/rotate-token/{id}', answer);
    const after = recordOf(answer);
    expect(after).toEqual({ ...before, token: after.token, read_only_token: after.read_only_token });
    for (const token of [before.token, before.read_only_token]) {
      await expectRefusal(api('GET', '/v2/logs', { token }), 401, 'The token is not valid.');
    }
    for (const token of [after.token, after.read_only_token]) {
      expect((await api('GET', '/v2/logs', { token })).status).toBe(200);
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
      // A process reports its count after every few messages.
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
