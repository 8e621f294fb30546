import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { newAccount, type Account } from '../../../lambdas/account/account.ts';
import { secretMark, tokenOf } from '../../../lambdas/account/credentials.ts';
import { parseMasterSecret } from '../../../lambdas/account/masterSecret.ts';
import { limitForHangsMs } from '../../support/limits.ts';
import { startFront, type Front } from '../../support/front.ts';
import { useStandIns } from '../../support/useStandIns.ts';

// Clients wait as long as on AWS: a silent stand-in counts as away instead of slow.
process.env['CLIENT_PATIENCE'] = '1';

const masterSecret = 'master-secret';
const old = 'the first master secret of this deployment';
const young = 'the second master secret of this deployment';

const standIns = useStandIns();

const start = Date.parse('2026-11-20T12:00:00Z');
const later = (ms: number): void => {
  vi.setSystemTime(Date.now() + ms);
};
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: start });
  vi.resetModules();
  standIns().secretValues.set(masterSecret, old);
});

/** A function that cannot read its secret. It gives up after 13 s, while the other tests run. */
let ignorant:
  | {
      readonly front: Front;
      readonly accepts: (secret: string) => Promise<boolean>;
      readonly first: Promise<boolean>;
    }
  | undefined;
beforeAll(async () => {
  const { MASTER_SECRET_ID: id, AWS_ENDPOINT_URL_SECRETS_MANAGER: url } = process.env;
  standIns().secretValues.set('unread', old);
  const front = await startFront(standIns().urls.secrets);
  Object.assign(process.env, { MASTER_SECRET_ID: 'unread', AWS_ENDPOINT_URL_SECRETS_MANAGER: front.url });
  vi.resetModules();
  const { accepts } = await startFunction();
  front.fail('silent');
  const first = accepts(old);
  await front.connected(1);
  ignorant = { front, accepts, first };
  Object.assign(process.env, { MASTER_SECRET_ID: id, AWS_ENDPOINT_URL_SECRETS_MANAGER: url });
});
afterAll(() => ignorant?.front.close());

const set = (value: string | object): void => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  standIns().secretValues.set(masterSecret, text);
};

async function startFunction() {
  const [{ authenticate }, { saveAccount }, keys] = await Promise.all([
    import('../../../lambdas/account/authenticate.ts'),
    import('../../../lambdas/account/accounts.ts'),
    import('../../../lambdas/account/signingKeys.ts'),
  ]);
  const id = crypto.randomUUID();
  const account: Account = newAccount({
    id,
    plan: 'paid',
    region: 'eu-central-1',
    createdAt: 0,
    signingSecret: secretMark(old),
  });
  await saveAccount(account, undefined);
  const accepts = (secret: string): Promise<boolean> =>
    authenticate(tokenOf({ current: secret }, account, 'write')).then(
      () => true,
      () => false,
    );
  return { accepts, account, getSigningKeys: keys.getSigningKeys, rotateSigningKeys: keys.rotateSigningKeys };
}

describe('the master secret', () => {
  it('may overlap with another: tokens of both are valid, and later only those of the new one', async () => {
    const { accepts } = await startFunction();
    expect([await accepts(old), await accepts(young)]).toEqual([true, false]);
    set({ current: young, previous: old });
    later(11_000);
    expect([await accepts(old), await accepts(young)]).toEqual([true, true]);
    set({ current: young });
    later(5 * 60_000);
    expect([await accepts(old), await accepts(young)]).toEqual([false, true]);
  });

  it('is read again for an unknown token, but at most every ten seconds', async () => {
    const { accepts } = await startFunction();
    await accepts(old);
    set({ current: young, previous: old });
    expect(await accepts(young)).toBe(false);
    later(9_000);
    expect(await accepts(young)).toBe(false);
    later(2_000);
    expect(await accepts(young)).toBe(true);
  });

  it('shows during the overlap which signing key is next', async () => {
    const { account, getSigningKeys } = await startFunction();
    const before = await getSigningKeys(account);
    set({ current: young, previous: old });
    later(5 * 60_000);
    const during = await getSigningKeys(account);
    expect(during.current).toBe(before.current);
    set({ current: young, retired: [secretMark(old)] });
    later(5 * 60_000);
    expect((await getSigningKeys(account)).current).toBe(during.next);
  });

  it.each(['too short', JSON.stringify({ current: 'too short' }), '{"previous":1}'])(
    'is refused if it is %s',
    async (value) => {
      const { account, getSigningKeys } = await startFunction();
      set(value);
      await expect(getSigningKeys(account)).rejects.toThrow('at least 32 characters');
    },
  );
});

describe('svc-queue master-secret', () => {
  const command = (...args: string[]) =>
    promisify(execFile)(process.execPath, [inject('bundledStage'), 'master-secret', ...args], {
      env: {
        ...process.env,
        AWS_ENDPOINT_URL_SECRETS_MANAGER: standIns().urls.secrets,
        AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
      },
    });

  it('starts and ends the overlap, one step after the other', async () => {
    vi.useRealTimers();
    const values = standIns().secretValues;
    values.set('Svc/master', old);
    expect((await command('begin')).stdout).toContain('the old one stays valid until you end it');
    const begun = parseMasterSecret(values.get('Svc/master') ?? '');
    expect(begun).toMatchObject({ previous: old, retired: [] });
    await expect(command('begin')).rejects.toThrow('The overlap before is not over yet; end it first.');
    await command('end');
    const ended = parseMasterSecret(values.get('Svc/master') ?? '');
    expect(ended).toEqual({ current: begun.current, retired: [secretMark(old)] });
    await expect(command('end')).rejects.toThrow('There is no overlap to end; begin one first.');
    await expect(command('stop')).rejects.toMatchObject({ code: 2 });
  });
});

describe('a secret that cannot be read again', () => {
  it('remains known: a bad token is refused, and good ones are accepted', async () => {
    const { accepts } = await startFunction();
    expect(await accepts(old)).toBe(true);
    set('broken');
    later(11_000);
    expect(await accepts(young)).toBe(false);
    expect(await accepts(old)).toBe(true);
  });
});

describe('Secrets Manager that does not answer', () => {
  let front: Front;
  const variable = 'AWS_ENDPOINT_URL_SECRETS_MANAGER';
  beforeEach(async () => {
    front = await startFront(standIns().urls.secrets);
    process.env[variable] = front.url;
  });
  afterEach(async () => {
    process.env[variable] = standIns().urls.secrets;
    await front.close();
  });

  const many = <T>(make: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: 20 }, make));

  it.each(['silent', 'halting'] as const)(
    'that is %s keeps known secrets valid for all callers, who share one read, with a pause before the next',
    async (fault) => {
      const { accepts } = await startFunction();
      await accepts(old);
      front.fail(fault, 1);
      later(30 * 60_000);
      expect(new Set(await many(() => accepts(old)))).toEqual(new Set([true]));
      expect(front.faults()).toBe(1);
      front.fail(fault);
      later(9_000);
      expect(new Set(await many(() => accepts(old)))).toEqual(new Set([true]));
      expect(await accepts(young)).toBe(false);
      expect(front.faults()).toBe(0);
    },
  );

  it('does not keep an ended master secret valid once it answers again', async () => {
    const { accepts } = await startFunction();
    await accepts(old);
    front.fail('silent');
    set({ current: young });
    later(60 * 60_000);
    expect([await accepts(old), await accepts(young)]).toEqual([true, false]);
    front.mend();
    // The secret is read again without another request.
    await vi.waitFor(
      async () => {
        later(10_000);
        expect([await accepts(old), await accepts(young)]).toEqual([false, true]);
      },
      { timeout: limitForHangsMs },
    );
  });

  it('lets an operator in with the known secret', async () => {
    const { authenticateManager } = await import('../../../lambdas/management/authenticateManager.ts');
    const password = 'the-first-password';
    standIns().secretValues.set('management', JSON.stringify({ username: 'admin', password }));
    const enter = () =>
      authenticateManager(`Basic ${Buffer.from(`admin:${password}`).toString('base64')}`, '192.0.2.9');
    await enter();
    front.fail('silent');
    later(10 * 60_000);
    await enter();
    expect(front.faults()).toBe(1);
  });

  it('is asked by each request while no secret is known', async () => {
    expect(await ignorant?.first).toBe(false);
    ignorant?.front.mend();
    expect(await ignorant?.accepts(old)).toBe(true);
  });
});

describe('the management password', () => {
  const authorization = (password: string): string =>
    `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`;
  const change = (password: string): void => {
    standIns().secretValues.set('management', JSON.stringify({ username: 'admin', password }));
  };

  it('can be changed without redeploying: the new one is valid at once, the old one for at most a minute', async () => {
    change('the-first-password');
    const { authenticateManager } = await import('../../../lambdas/management/authenticateManager.ts');
    const isGood = (password: string): Promise<boolean> =>
      authenticateManager(authorization(password), '192.0.2.1').then(
        () => true,
        () => false,
      );
    expect(await isGood('the-first-password')).toBe(true);
    change('the-second-password');
    later(11_000);
    expect(await isGood('the-second-password')).toBe(true);
    expect(await isGood('the-first-password')).toBe(false);
    change('the-third-password');
    later(60_000);
    expect(await isGood('the-second-password')).toBe(false);
  });

  it('can be tried at most ten times from one network, without an effect on other networks', async () => {
    change('the-first-password');
    const { authenticateManager } = await import('../../../lambdas/management/authenticateManager.ts');
    const statusFrom = (ip: string, password: string): Promise<unknown> =>
      authenticateManager(authorization(password), ip).then(
        () => 200,
        (error: unknown) => (error instanceof Error && 'status' in error ? error.status : error),
      );
    const tries = await Promise.all(
      // Addresses of one subscriber.
      Array.from({ length: 30 }, (_, number) => statusFrom(`2001:db8:0:1::${number + 1}`, `guess-${number}`)),
    );
    expect(tries.filter((status) => status === 401)).toHaveLength(10);
    expect(tries.filter((status) => status === 429)).toHaveLength(20);
    expect(await statusFrom('2001:db8:0:1:ffff::1', 'the-first-password')).toBe(429);
    expect(await statusFrom('2001:db8:0:2::1', 'the-first-password')).toBe(200);
    expect(await statusFrom('::ffff:192.0.2.7', 'the-first-password')).toBe(200);
  });
});
