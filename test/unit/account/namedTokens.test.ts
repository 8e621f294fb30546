import { beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { itAtEachDeath } from '../../support/faults.ts';
import { useStandIns } from '../../support/useStandIns.ts';
import { watchedCalls } from '../../support/watchedCalls.ts';

useStandIns();

const importLambdas = async () => {
  vi.resetModules();
  const [accounts, ends, tokens, authenticate, caller, follow, store, { dynamodb }] = await Promise.all([
    import('../../../lambdas/management/accounts.ts'),
    import('../../../lambdas/management/endDeletions.ts'),
    import('../../../lambdas/management/tokens.ts'),
    import('../../../lambdas/account/authenticate.ts'),
    import('../../../lambdas/account/namedCaller.ts'),
    import('../../../lambdas/management/followAccount.ts'),
    import('../../../lambdas/account/namedTokens.ts'),
    import('../../../lambdas/aws/dynamodb.ts'),
  ]);
  const { watch, ...watched } = watchedCalls();
  watch(dynamodb);
  return {
    ...accounts,
    ...ends,
    ...tokens,
    ...authenticate,
    ...caller,
    ...follow,
    ...store,
    ...watched,
  };
};
type Lambdas = Awaited<ReturnType<typeof importLambdas>>;
let lambdas: Lambdas;

beforeEach(async () => {
  lambdas = await importLambdas();
});

const bytes = (fields: unknown): Uint8Array => Buffer.from(JSON.stringify(fields));
const record = z.object({ id: z.string(), token: z.string() });
const makeAccount = async (fields: object = {}) => record.parse(await lambdas.createAccount(bytes(fields)));
const makeToken = (accountId: string, fields: object = {}) =>
  lambdas.createToken(accountId, bytes({ name: 'shop', scope: 'full', ...fields }));

/** Authenticates a request with a token, like the middleware. */
async function use(token: string, by: Lambdas = lambdas): Promise<void> {
  const { named } = await by.authenticate(token);
  if (named !== undefined) await by.noteUse(named);
}

const refused = (code: string) => expect.objectContaining({ status: 401, code }) as unknown;

describe('a named token', () => {
  it('costs no more calls once a process has read it and recorded its use, and the account’s own tokens never do', async () => {
    const { id, token: own } = await makeAccount();
    const { token } = await makeToken(id);
    expect(await lambdas.callsOf(() => use(own))).toEqual(['GetItem']);
    // Reads the account and the token, and the token again before its use is written.
    expect(await lambdas.callsOf(() => use(token))).toEqual(['GetItem', 'GetItem', 'GetItem', 'UpdateItem']);
    expect(await lambdas.callsOf(() => use(token))).toEqual(['GetItem']);
    expect(await lambdas.callsOf(() => use(own))).toEqual(['GetItem']);
  });

  it('costs no call more after a rotation, in a process that knew it before', async () => {
    const { id } = await makeAccount();
    const { id: tokenId, token } = await makeToken(id);
    await use(token);
    const fresh = await lambdas.rotateToken(id, tokenId, bytes({ overlap: '1h' }));
    expect(await lambdas.callsOf(() => use(fresh.token))).toEqual(['GetItem']);
    expect(await lambdas.callsOf(() => use(token))).toEqual(['GetItem']);
  });

  it('has its use written once a day, by all processes together', async () => {
    const { id } = await makeAccount();
    const { token } = await makeToken(id);
    const others = [await importLambdas(), await importLambdas()];
    const writesOn = async (): Promise<number> => {
      let writes = 0;
      for (const process of [lambdas, ...others]) {
        const calls = await process.callsOf(async () => {
          await use(token, process);
          await use(token, process);
        });
        writes += calls.filter((name) => name === 'UpdateItem').length;
      }
      return writes;
    };
    vi.useFakeTimers({ toFake: ['Date'] });
    expect(await writesOn()).toBe(1);
    const [shown] = await lambdas.listTokens(id);
    expect(shown?.last_used).toBe(new Date().toISOString().slice(0, 10));
    vi.setSystemTime(Date.now() + 86_400_000);
    expect(await writesOn()).toBe(1);
    const [later] = await lambdas.listTokens(id);
    expect(later?.last_used).toBe(new Date().toISOString().slice(0, 10));
  });

  it('is refused by the next request after it is revoked, even if a process knows it', async () => {
    const { id, token: own } = await makeAccount();
    const [kept, made] = [await makeToken(id), await makeToken(id)];
    await use(made.token);
    expect(await lambdas.revokeToken(id, made.id)).toMatchObject({ id: made.id, name: 'shop' });
    await expect(use(made.token)).rejects.toEqual(refused('token_invalid'));
    await use(kept.token);
    await use(own);
    expect((await lambdas.listTokens(id)).map((one) => one.id)).toEqual([kept.id]);
    await expect(lambdas.revokeToken(id, made.id)).rejects.toMatchObject({
      status: 404,
      code: 'token_not_found',
    });
  });

  it('expires at its time, and is listed for another month', async () => {
    const { id } = await makeAccount();
    vi.useFakeTimers({ toFake: ['Date'] });
    const endsAt = Math.floor(Date.now() / 1_000) + 60;
    const made = await makeToken(id, { expires_at: endsAt });
    vi.setSystemTime(endsAt * 1_000 - 1);
    await use(made.token);
    vi.setSystemTime(endsAt * 1_000);
    await expect(use(made.token)).rejects.toEqual(refused('token_expired'));
    expect(await lambdas.listTokens(id)).toMatchObject([{ id: made.id, expires_at: endsAt }]);
  });

  it('stays valid if the account’s own tokens are replaced, and is refused while the account is suspended', async () => {
    const { id } = await makeAccount();
    const { token } = await makeToken(id);
    await lambdas.rotateTokens(id);
    await use(token);
    await lambdas.updateAccount(id, bytes({ active: false }));
    await expect(use(token)).rejects.toEqual(refused('account_inactive'));
  });

  it('is not valid with its id and another secret', async () => {
    const { id } = await makeAccount();
    const [one, other] = [await makeToken(id), await makeToken(id)];
    const parts = z.object({ UserID: z.string(), Password: z.string() });
    const { UserID, Password } = parts.parse(JSON.parse(atob(one.token)));
    for (const password of [
      `${other.id}.${Password.split('.')[1] ?? ''}`,
      `${one.id}.`,
      one.id,
      `${Password}x`,
      'tok_0000000000000000.secret',
    ]) {
      const forged = btoa(JSON.stringify({ UserID, Password: password }));
      await expect(lambdas.authenticate(forged)).rejects.toEqual(refused('token_invalid'));
    }
  });

  it('leaves no row when its account can no longer be restored', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { id } = await makeAccount();
    const made = await makeToken(id);
    await lambdas.deleteAccount(id);
    await lambdas.followAccount({ accountId: id });
    expect(await lambdas.loadNamedToken(id, made.id)).toBeDefined();
    vi.setSystemTime(Date.now() + 7 * 86_400_000);
    await lambdas.endDeletions();
    await lambdas.followAccount({ accountId: id });
    expect(await lambdas.loadNamedToken(id, made.id)).toBeUndefined();
    await expect(makeToken(id)).rejects.toMatchObject({ status: 404, code: 'account_not_found' });
  });
});

describe('a token that a named token made', () => {
  /** Makes a token by the account's own API. */
  const makeWith = async (token: string, fields: object = {}) =>
    lambdas.createOwnToken(
      await lambdas.authenticate(token),
      bytes({ name: '東京', scope: 'read', ...fields }),
    );
  const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1_000) + seconds;

  it('ends with its maker at the latest', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { id } = await makeAccount();
    const endsAt = inSeconds(60);
    const maker = await makeToken(id, { expires_at: endsAt });
    await expect(makeWith(maker.token, { expires_at: endsAt + 1 })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(`expires_at is ${endsAt + 1}`) as unknown,
    });
    const ends = [endsAt - 1, endsAt, null, undefined];
    const made = [];
    for (const end of ends) made.push(await makeWith(maker.token, { expires_at: end }));
    expect(made.map((one) => one.expires_at)).toEqual([endsAt - 1, endsAt, endsAt, endsAt]);
    for (const { token } of made) await use(token);
    vi.setSystemTime(endsAt * 1_000);
    for (const { token } of [maker, ...made])
      await expect(use(token)).rejects.toEqual(refused('token_expired'));
    // The clock steps back over the end, and forward again.
    vi.setSystemTime(endsAt * 1_000 - 3_600_000);
    for (const { token } of [maker, ...made]) await use(token);
  });

  it('is named after its maker in the list, and may be revoked alone', async () => {
    const { id, token: own } = await makeAccount();
    const maker = await makeToken(id);
    const [made, other] = [
      await makeWith(maker.token),
      await makeWith(own, { expires_at: inSeconds(9_999) }),
    ];
    expect((await lambdas.listTokens(id)).map((one) => [one.id, one.made_by])).toEqual([
      [other.id, 'token'],
      [made.id, maker.id],
      [maker.id, 'operator'],
    ]);
    await lambdas.revokeToken(id, made.id);
    await expect(use(made.token)).rejects.toEqual(refused('token_invalid'));
    await use(maker.token);
    await use(other.token);
  });

  it('is revoked with its maker, even if a process knows it, and other tokens are not', async () => {
    const { id, token: own } = await makeAccount();
    const [maker, stranger] = [await makeToken(id), await makeToken(id)];
    const made = [await makeWith(maker.token), await makeWith(maker.token, { scope: 'publish' })];
    const kept = [own, stranger.token, (await makeWith(stranger.token)).token, (await makeWith(own)).token];
    for (const { token } of made) await use(token);
    await lambdas.revokeToken(id, maker.id);
    for (const { token } of [maker, ...made])
      await expect(use(token)).rejects.toEqual(refused('token_invalid'));
    for (const token of kept) await use(token);
    expect(await lambdas.listTokens(id)).toHaveLength(3);
    for (const one of [maker, ...made]) expect(await lambdas.loadNamedToken(id, one.id)).toBeUndefined();
    // Revoked tokens no longer count.
    for (let number = 3; number < 50; number += 1) await makeToken(id);
  });

  it('stays if the account’s own token made it and is replaced', async () => {
    const { id, token: own } = await makeAccount();
    const made = await makeWith(own);
    await lambdas.rotateTokens(id);
    await use(made.token);
  });

  it('is not made once its maker is revoked, at whichever moment that happens', async () => {
    const { id } = await makeAccount();
    for (let calls = 0; calls < 12; calls += 1) {
      const maker = await makeToken(id);
      const caller = await lambdas.authenticate(maker.token);
      const making = lambdas
        .createOwnToken(caller, bytes({ name: 'late', scope: 'read' }))
        .catch((error: unknown) => error);
      for (let turn = 0; turn < calls; turn += 1) await new Promise(setImmediate);
      await lambdas.revokeToken(id, maker.id);
      const made = record.safeParse(await making).data;
      if (made !== undefined) await expect(use(made.token)).rejects.toEqual(refused('token_invalid'));
      expect(await lambdas.listTokens(id)).toEqual([]);
    }
    const gone = await makeToken(id);
    const caller = await lambdas.authenticate(gone.token);
    await lambdas.revokeToken(id, gone.id);
    await expect(lambdas.createOwnToken(caller, bytes({ name: 'late', scope: 'read' }))).rejects.toEqual(
      refused('token_invalid'),
    );
  });

  itAtEachDeath('is revoked by the next try after a process died', async (fate) => {
    const { id } = await makeAccount();
    const maker = await makeToken(id);
    const made = await makeWith(maker.token);
    lambdas.setFate(fate);
    await lambdas.revokeToken(id, maker.id).catch(() => undefined);
    lambdas.setFate(undefined);
    await lambdas.revokeToken(id, maker.id).catch(() => undefined);
    for (const { token } of [maker, made])
      await expect(lambdas.authenticate(token)).rejects.toEqual(refused('token_invalid'));
    for (const one of [maker, made]) expect(await lambdas.loadNamedToken(id, one.id)).toBeUndefined();
  });
});

describe('an account', () => {
  it('has at most 50 named tokens, not counting revoked ones', async () => {
    const { id } = await makeAccount();
    let last = '';
    for (let made = 0; made < 50; made += 1) ({ id: last } = await makeToken(id));
    await expect(makeToken(id)).rejects.toMatchObject({ status: 412, code: 'token_limit_reached' });
    await lambdas.revokeToken(id, last);
    await makeToken(id);
    expect(await lambdas.listTokens(id)).toHaveLength(50);
  });
});

describe('a request for a named token', () => {
  it.each([
    [{ name: '' }, 'name'],
    [{ scope: 'admin' }, 'scope'],
    [{ destinations: ['https://example.com'] }, 'destinations is given with the scope full'],
    [{ scope: 'publish', destinations: [] }, 'destinations'],
    [{ scope: 'publish', destinations: ['ftp://example.com/'] }, 'destinations.0'],
    [{ scope: 'publish', destinations: ['https://example.com/?a'] }, 'destinations.0'],
    [{ expires_at: 1_000 }, 'expires_at is 1000, which is in the past'],
    [{ colour: 'red' }, 'colour'],
  ])('with %j is refused, and creates none', async (fields, part) => {
    const { id } = await makeAccount();
    await expect(makeToken(id, fields)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(part) as unknown,
    });
    expect(await lambdas.listTokens(id)).toEqual([]);
  });
});

describe('a process that dies', () => {
  itAtEachDeath('while it makes a token leaves none that lasts, or a whole one', async (fate) => {
    const { id } = await makeAccount();
    lambdas.setFate(fate);
    const made = await makeToken(id).catch(() => undefined);
    lambdas.setFate(undefined);
    if (made !== undefined) await use(made.token);
    for (const left of await lambdas.listTokens(id)) await lambdas.revokeToken(id, left.id);
    expect(await lambdas.listTokens(id)).toEqual([]);
  });

  itAtEachDeath('while it revokes a token is finished by the next try', async (fate) => {
    const { id } = await makeAccount();
    const { id: tokenId, token } = await makeToken(id);
    lambdas.setFate(fate);
    await lambdas.revokeToken(id, tokenId).catch(() => undefined);
    lambdas.setFate(undefined);
    await lambdas.revokeToken(id, tokenId).catch(() => undefined);
    await expect(lambdas.authenticate(token)).rejects.toEqual(refused('token_invalid'));
    expect(await lambdas.loadNamedToken(id, tokenId)).toBeUndefined();
  });
});
