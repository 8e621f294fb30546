import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { makeAccount, manage, recordOf, type AccountRecord } from '../support/accounts.ts';
import { api, ok } from '../support/api.ts';
import { clockStage } from '../support/clockStage.ts';
import { checkAnswer } from '../support/contract.ts';
import { publish, service, type Answer } from '../support/publish.ts';
import { useReceiver } from '../support/useReceiver.ts';
import { expectRefusal } from '../support/refusals.ts';

const receiver = useReceiver();

const made = z.strictObject({
  id: z.string(),
  name: z.string(),
  scope: z.string(),
  destinations: z.optional(z.array(z.string())),
  made_by: z.string(),
  created_at: z.int(),
  expires_at: z.optional(z.int()),
  token: z.string(),
});
const listed = z.array(z.looseObject({ id: z.string(), last_used: z.optional(z.string()) }));

const tokensOf = (id: string): string => `/v2/svc/users/${id}/tokens`;

async function makeToken(
  { id }: Pick<AccountRecord, 'id'>,
  scope: 'full' | 'read' | 'publish',
  fields: Readonly<Record<string, unknown>> = {},
): Promise<z.infer<typeof made>> {
  const answer = await manage('POST', tokensOf(id), { body: { name: 'a test', scope, ...fields } });
  expect(answer.status).toBe(201);
  checkAnswer('POST /v2/{brand}/users/{id}/tokens', answer);
  return made.parse(answer.json);
}

const refusal = (answer: Answer): readonly unknown[] => [
  answer.status,
  z.object({ code: z.string() }).parse(answer.json).code,
];
const exceeded = [403, 'token_scope_exceeded'] as const;

describe('a named token', () => {
  it('is shown once, listed without its secret, and refused by the next request after it is revoked', async () => {
    const account = await makeAccount();
    const { token, id, ...rest } = await makeToken(account, 'full', {
      expires_at: Math.floor(Date.now() / 1_000) + 3_600,
    });
    expect((await api('POST', '/v2/queues', { token, body: { queueName: 'mail' } })).status).toBe(200);

    const list = await manage('GET', tokensOf(account.id));
    checkAnswer('GET /v2/{brand}/users/{id}/tokens', list);
    expect(list.json).toEqual([
      { id, ...rest, last_used: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as unknown },
    ]);

    const revoked = await manage('DELETE', `${tokensOf(account.id)}/${id}`);
    checkAnswer('DELETE /v2/{brand}/users/{id}/tokens/{tokenId}', revoked);
    expect(revoked.status).toBe(200);
    expect(refusal(await api('GET', '/v2/queues', { token }))).toEqual([401, 'token_invalid']);
    expect((await api('GET', '/v2/queues', { token: account.token })).status).toBe(200);
    expect(listed.parse(await ok(manage('GET', tokensOf(account.id))))).toEqual([]);
    expect(refusal(await manage('DELETE', `${tokensOf(account.id)}/${id}`))).toEqual([
      404,
      'token_not_found',
    ]);
  });

  it('with the scope publish publishes, enqueues, sends batches, triggers and notifies, and nothing else', async () => {
    const { token } = await makeToken(await makeAccount(), 'publish');
    const inbox = receiver.inbox();
    expect((await publish(inbox.url, { token, body: 'published' })).status).toBe(200);
    const enqueued = await api('POST', `/v2/enqueue/mail/${inbox.url}`, { token });
    const batch = [{ destination: inbox.url, body: 'in a batch' }];
    expect([enqueued.status, (await api('POST', '/v2/batch', { token, body: batch })).status]).toEqual([
      200, 200,
    ]);
    await inbox.received(3);
    expect((await api('POST', '/v2/notify/nobody-waits', { token })).status).toBe(200);
    const triggered = await api('POST', `/v2/trigger/${receiver.origin}/no-workflow`, {
      token,
      headers: { 'Svc-Delay': '1h' },
    });
    expect(triggered.status).toBe(200);
    for (const [method, path] of [
      ['GET', '/v2/queues'],
      ['GET', '/v2/stats'],
      ['GET', '/v2/audit'],
      ['GET', '/v2/keys'],
      ['POST', '/v2/queues'],
      ['POST', `/v2/schedules/${inbox.url}`],
      ['DELETE', '/v2/messages'],
      ['POST', '/v2/keys/rotate'],
    ] as const) {
      expect([path, ...refusal(await api(method, path, { token }))]).toEqual([path, ...exceeded]);
    }
  });
});

describe('a request for a named token', () => {
  it('for an unknown account is answered with 404, and without the operator’s credentials with 401', async () => {
    const nobody = tokensOf('00000000-0000-4000-8000-000000000000');
    expect((await manage('GET', nobody)).status).toBe(404);
    const { id } = await makeAccount();
    expect((await manage('GET', tokensOf(id), { authorization: null })).status).toBe(401);
    expect((await manage('GET', tokensOf(id), { authorization: `Bearer ${service.token}` })).status).toBe(
      401,
    );
  });
});

describe('an account', () => {
  const future = Math.floor(Date.now() / 1_000) + 3_600;

  it('creates a token for a colleague, which is in its trail, and revokes it', async () => {
    const { id: accountId, token } = await makeAccount();
    const body = { name: 'Ada', scope: 'read', expires_at: future };
    const answer = await api('POST', '/v2/tokens', { token, body });
    checkAnswer('POST /v2/tokens', answer);
    expect(answer.status).toBe(201);
    const { token: hers, id } = made.parse(answer.json);
    expect((await api('GET', '/v2/queues', { token: hers })).status).toBe(200);
    const list = await api('GET', '/v2/tokens', { token });
    checkAnswer('GET /v2/tokens', list);
    expect(list.json).toMatchObject([{ id, name: 'Ada', scope: 'read', expires_at: future }]);
    expect(list.json).toEqual(await ok(manage('GET', tokensOf(accountId))));
    const revoked = await api('DELETE', `/v2/tokens/${id}`, { token });
    checkAnswer('DELETE /v2/tokens/{tokenId}', revoked);
    expect(revoked.status).toBe(200);
    expect(refusal(await api('GET', '/v2/queues', { token: hers }))).toEqual([401, 'token_invalid']);
    expect(refusal(await api('DELETE', `/v2/tokens/${id}`, { token }))).toEqual([404, 'token_not_found']);
    const trail = z.object({
      entries: z.array(z.looseObject({ actor: z.string(), subject: z.optional(z.string()) })),
    });
    const { entries } = trail.parse(await ok(api('GET', '/v2/audit', { token })));
    expect(entries.filter(({ subject }) => subject === id)).toMatchObject([
      { actor: 'token', action: 'token.revoke' },
      { actor: 'token', action: 'token.create' },
    ]);
  });

  it('cannot create or revoke a token with full rights, and other tokens cannot create one', async () => {
    const account = await makeAccount();
    const { token } = account;
    const full = await makeToken(account, 'full');
    await expectRefusal(
      api('POST', '/v2/tokens', { token, body: { name: 'all', scope: 'full' } }),
      400,
      /^scope: Invalid .*, the scope read, publish, /,
    );
    expect(refusal(await api('DELETE', `/v2/tokens/${full.id}`, { token }))).toEqual(exceeded);
    const body = { name: 'more', scope: 'publish' };
    for (const scope of ['read', 'publish'] as const) {
      const less = await makeToken(account, scope);
      expect((await api('POST', '/v2/tokens', { token: less.token, body })).status).toBe(403);
    }
    // A full token from the operator has the rights of the account’s own.
    expect((await api('POST', '/v2/tokens', { token: full.token, body })).status).toBe(201);
  });
});

describe('a rotation', () => {
  const bad = [401, 'token_invalid'] as const;
  const rotateBy = (token: string, tokenId: string, body?: unknown) =>
    api('POST', `/v2/tokens/${tokenId}/rotate`, { token, body });
  async function rotated(account: { readonly token: string }, tokenId: string, overlap?: string) {
    const answer = await rotateBy(account.token, tokenId, overlap === undefined ? undefined : { overlap });
    expect(answer.status).toBe(200);
    checkAnswer('POST /v2/tokens/{tokenId}/rotate', answer);
    return z.looseObject({ token: z.string(), overlap_until: z.optional(z.int()) }).parse(answer.json);
  }
  const use = async (token: string) => refusalOr200(await api('GET', '/v2/queues', { token }));
  const refusalOr200 = (answer: Answer) => (answer.status === 200 ? 200 : refusal(answer));

  it('of a named token keeps its id and rights, and the earlier secret until the overlap is over', async () => {
    const stage = await clockStage();
    const { url, token: own } = stage;
    const body = { name: '東京', scope: 'read' };
    const first = made.parse(await ok(api('POST', '/v2/tokens', { url, token: own, body }), 201));
    const used = async (token: string) => refusalOr200(await api('GET', '/v2/queues', { url, token }));
    const rotateThere = async (overlap: string) =>
      z
        .looseObject({ id: z.string(), token: z.string() })
        .parse(
          await ok(api('POST', `/v2/tokens/${first.id}/rotate`, { url, token: own, body: { overlap } })),
        );
    const second = await rotateThere('1h');
    expect(second).toMatchObject({ id: first.id, name: '東京', scope: 'read' });
    // If the rotation is repeated, the secret that is in use stays valid, because the first answer may have
    // been lost.
    const third = await rotateThere('1h');
    expect(new Set([first.token, second.token, third.token]).size).toBe(3);
    for (const one of [first, second, third]) expect(await used(one.token)).toBe(200);
    await stage.advance(3_600_000);
    for (const one of [first, second]) expect(await used(one.token)).toEqual(bad);
    expect(await used(third.token)).toBe(200);
    // After an overlap, the list does not mention it.
    const [listedNow] = z
      .array(z.looseObject({ id: z.string() }))
      .parse(await ok(api('GET', '/v2/tokens', { url, token: own })));
    expect(listedNow).not.toHaveProperty('overlap_until');
  });

  it('without an overlap ends all earlier secrets at once, and is in the trail', async () => {
    const account = await makeAccount();
    const first = await makeToken(account, 'publish');
    const before = Math.floor(Date.now() / 1_000);
    const second = await rotated(account, first.id);
    expect((second.overlap_until ?? 0) - before).toBeGreaterThanOrEqual(24 * 3_600);
    const third = await rotated(account, first.id, '0s');
    expect(third.overlap_until).toBeUndefined();
    const publishes = (token: string) =>
      publish('https://example.com', { token, headers: { 'Svc-Delay': '1d' } });
    for (const { token } of [first, second]) expect(refusal(await publishes(token))).toEqual(bad);
    expect((await publishes(third.token)).status).toBe(200);
    const trail = z.object({ entries: z.array(z.looseObject({ action: z.string() })) });
    const { entries } = trail.parse(
      await ok(api('GET', `/v2/audit?subject=${first.id}&action=token.rotate`, { token: account.token })),
    );
    expect(entries).toMatchObject([
      { actor: 'token', count: 2, changes: [{ field: 'overlap', after: '0s' }] },
    ]);
    // A revoked token is refused with its new secret, too.
    await ok(manage('DELETE', `${tokensOf(account.id)}/${first.id}`));
    expect(refusal(await publishes(third.token))).toEqual(bad);
  });

  it('by many at once leaves each answered secret valid', async () => {
    const account = await makeAccount();
    const { id } = await makeToken(account, 'read');
    const all = await Promise.all([1, 2, 3].map(() => rotated(account, id, '7d')));
    expect(new Set(all.map(({ token }) => token)).size).toBe(3);
    for (const { token } of all) expect(await use(token)).toBe(200);
  });

  it('is refused for a token with all rights, and for one that the caller has not made', async () => {
    const account = await makeAccount();
    const full = await makeToken(account, 'full');
    const other = await makeToken(account, 'read');
    expect(refusal(await rotateBy(account.token, full.id))).toEqual(exceeded);
    expect(refusal(await rotateBy(full.token, full.id))).toEqual(exceeded);
    expect(refusal(await rotateBy(full.token, other.id))).toEqual(exceeded);
    const body = { name: 'mine', scope: 'read' };
    const mine = made.parse(await ok(api('POST', '/v2/tokens', { token: full.token, body }), 201));
    expect((await rotateBy(full.token, mine.id)).status).toBe(200);
    for (const { token } of [other, await makeToken(account, 'publish')])
      expect((await rotateBy(token, other.id)).status).toBe(403);
    expect(refusal(await rotateBy(account.token, 'tok_0000000000000000'))).toEqual([404, 'token_not_found']);
    for (const overlap of ['8d', '-1s', 'soon', 7])
      await expectRefusal(rotateBy(account.token, other.id, { overlap }), 400, /^overlap/);
    expect(await use(other.token)).toBe(200);
    const path = `${tokensOf(account.id)}/${full.id}/rotate`;
    const byOperator = await manage('POST', path, { body: { overlap: '0s' } });
    checkAnswer('POST /v2/{brand}/users/{id}/tokens/{tokenId}/rotate', byOperator);
    const { token } = z.object({ token: z.string() }).parse(byOperator.json);
    expect([await use(token), await use(full.token)]).toEqual([200, bad]);
  });

  it('of the account’s own tokens ends both at once, and only they can ask for it', async () => {
    const account = await makeAccount();
    const full = await makeToken(account, 'full');
    const rotateOwn = (token: string) => api('POST', '/v2/tokens/rotate', { token });
    expect(refusal(await rotateOwn(full.token))).toEqual(exceeded);
    expect(refusal(await rotateOwn(account.read_only_token))).toEqual([403, 'token_read_only']);
    const answer = await rotateOwn(account.token);
    checkAnswer('POST /v2/tokens/rotate', answer);
    const fresh = z.strictObject({ token: z.string(), readOnlyToken: z.string() }).parse(answer.json);
    for (const old of [account.token, account.read_only_token]) expect(await use(old)).toEqual(bad);
    for (const token of [fresh.token, fresh.readOnlyToken, full.token]) expect(await use(token)).toBe(200);
    expect(refusal(await rotateOwn(fresh.readOnlyToken))).toEqual([403, 'token_read_only']);
    expect(recordOf(await manage('GET', `/v2/svc/users/${account.id}`))).toMatchObject({
      token: fresh.token,
      read_only_token: fresh.readOnlyToken,
    });
  });
});
