import { beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { itAtEachDeath } from '../../support/faults.ts';
import { useStandIns } from '../../support/useStandIns.ts';
import { watchedCalls } from '../../support/watchedCalls.ts';

useStandIns();

const importLambdas = async () => {
  vi.resetModules();
  const [accounts, tokens, authenticate, caller, follow, store, { dynamodb }] = await Promise.all([
    import('../../../lambdas/management/accounts.ts'),
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
  it('grants the rights of its scope', async () => {
    const { id } = await makeAccount();
    for (const [scope, access] of [
      ['full', 'write'],
      ['read', 'read'],
      ['publish', 'publish'],
    ] as const) {
      const made = await makeToken(id, { scope });
      const caller = await lambdas.authenticate(made.token);
      expect(caller).toMatchObject({ access, named: { id: made.id, scope, name: 'shop' } });
    }
  });

  it('costs no more calls once a process has read it and recorded its use, and the account’s own tokens never do', async () => {
    const { id, token: own } = await makeAccount();
    const { token } = await makeToken(id);
    expect(await lambdas.callsOf(() => use(own))).toEqual(['GetItem']);
    // Reads the account and the token, and the token again before its use is written.
    expect(await lambdas.callsOf(() => use(token))).toEqual(['GetItem', 'GetItem', 'GetItem', 'UpdateItem']);
    expect(await lambdas.callsOf(() => use(token))).toEqual(['GetItem']);
    expect(await lambdas.callsOf(() => use(own))).toEqual(['GetItem']);
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

  it('leaves no row when its account is deleted', async () => {
    const { id } = await makeAccount();
    const made = await makeToken(id);
    await lambdas.deleteAccount(id);
    await lambdas.followAccount({ accountId: id });
    expect(await lambdas.loadNamedToken(id, made.id)).toBeUndefined();
    await expect(makeToken(id)).rejects.toMatchObject({ status: 404, code: 'account_not_found' });
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
    [{ name: null }, 'name'],
    [{ scope: 'admin' }, 'scope'],
    [{ destinations: ['https://example.com'] }, 'destinations is given with the scope full'],
    [{ scope: 'publish', destinations: [] }, 'destinations'],
    [{ scope: 'publish', destinations: ['ftp://example.com/'] }, 'destinations.0'],
    [{ scope: 'publish', destinations: ['fine', 'https://user@example.com/'] }, 'destinations.1'],
    [{ scope: 'publish', destinations: ['https://example.com/?a'] }, 'destinations.0'],
    [{ scope: 'publish', destinations: ['not a name'] }, 'destinations.0'],
    [{ expires_at: 1_000 }, 'expires_at is 1000, which is in the past'],
    [{ expires_at: Date.now() }, 'expires_at'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
    [{ colour: 'red' }, 'colour'],
  ])('with %j is refused, and creates none', async (fields, part) => {
    const { id } = await makeAccount();
    await expect(makeToken(id, fields)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(part) as unknown,
    });
    expect(await lambdas.listTokens(id)).toEqual([]);
  });

  it('may have null in fields that are optional', async () => {
    const { id } = await makeAccount();
    await makeToken(id, { destinations: null, expires_at: null });
  });
});

describe('a process that dies', () => {
  itAtEachDeath('while it makes a token leaves none that lasts, or a whole one', async (fate) => {
    const mortal = await importLambdas();
    const { id } = record.parse(await mortal.createAccount(bytes({})));
    mortal.setFate(fate);
    const made = await mortal.createToken(id, bytes({ name: 'shop', scope: 'full' })).catch(() => undefined);
    mortal.setFate(undefined);
    if (made !== undefined) await use(made.token, mortal);
    for (const left of await mortal.listTokens(id)) await mortal.revokeToken(id, left.id);
    expect(await mortal.listTokens(id)).toEqual([]);
  });

  itAtEachDeath('while it revokes a token is finished by the next try', async (fate) => {
    const mortal = await importLambdas();
    const { id } = record.parse(await mortal.createAccount(bytes({})));
    const { id: tokenId, token } = await mortal.createToken(id, bytes({ name: 'shop', scope: 'full' }));
    mortal.setFate(fate);
    await mortal.revokeToken(id, tokenId).catch(() => undefined);
    mortal.setFate(undefined);
    await mortal.revokeToken(id, tokenId).catch(() => undefined);
    await expect(mortal.authenticate(token)).rejects.toEqual(refused('token_invalid'));
    expect(await mortal.loadNamedToken(id, tokenId)).toBeUndefined();
  });
});
