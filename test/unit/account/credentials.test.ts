import { describe, expect, it } from 'vitest';
import { newAccount, type Account } from '../../../lambdas/account/account.ts';
import {
  loopMarkHeaders,
  isOwnDelivery,
  readToken,
  rotatedSigning,
  secretMark,
  signingKeysOf,
  tokenOf,
  verifyToken,
  type MasterSecret,
} from '../../../lambdas/account/credentials.ts';
import { begin, end } from '../../../lambdas/account/masterSecret.ts';

const old = 'a master secret of enough characters';
const young = 'another master secret of enough characters';
const secret: MasterSecret = { current: old };
const overlap: MasterSecret = { current: young, previous: old };
const account = newAccount({
  id: 'acct',
  plan: 'paid',
  region: 'eu-central-1',
  createdAt: 0,
  signingSecret: secretMark(old),
});

const passwordOf = (of: MasterSecret, one: Account = account): string =>
  readToken(tokenOf(of, one, 'write'))?.password ?? '';

describe('a token', () => {
  it('names its account and is verified without being stored', () => {
    for (const access of ['write', 'read'] as const) {
      const parts = readToken(tokenOf(secret, account, access));
      expect(parts?.accountId).toBe('acct');
      expect(verifyToken(secret, account, parts?.password ?? '')).toBe(access);
    }
  });

  it('becomes invalid with its generation, its account or its secret', () => {
    const password = passwordOf(secret);
    expect(
      verifyToken(secret, { ...account, tokenGeneration: account.tokenGeneration + 1 }, password),
    ).toBeUndefined();
    expect(verifyToken(secret, { ...account, id: 'other' }, password)).toBeUndefined();
    expect(verifyToken({ current: young }, account, password)).toBeUndefined();
    expect(verifyToken(secret, account, '')).toBeUndefined();
  });

  it('of either master secret is valid during a change of the secret', () => {
    expect(verifyToken(overlap, account, passwordOf(secret))).toBe('write');
    expect(verifyToken(overlap, account, passwordOf({ current: young }))).toBe('write');
    expect(tokenOf(overlap, account, 'read')).toBe(tokenOf({ current: young }, account, 'read'));
  });

  it('of the old master secret becomes invalid with a reset even then', () => {
    const reset = { ...account, tokenGeneration: account.tokenGeneration + 1 };
    expect(verifyToken(overlap, reset, passwordOf(secret))).toBeUndefined();
    expect(verifyToken(overlap, reset, passwordOf(secret, reset))).toBe('write');
  });

  it.each(['', 'x', 'e30=', Buffer.from('null').toString('base64'), Buffer.from('[1]').toString('base64')])(
    '%j is not a token',
    (text) => {
      expect(readToken(text)).toBeUndefined();
    },
  );
});

describe('signing keys', () => {
  const rotated = (of: MasterSecret, one: Account): Account => ({ ...one, ...rotatedSigning(of, one) });

  it('move up by one at a rotation', () => {
    const before = signingKeysOf(secret, account);
    const after = signingKeysOf(secret, rotated(secret, account));
    expect(after.current).toBe(before.next);
    expect(after.next).not.toBe(before.next);
    expect(before.current).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  });

  it('do not change while the master secret changes, and the new keys are shown as next', () => {
    const during = signingKeysOf(overlap, account);
    expect(during.current).toBe(signingKeysOf(secret, account).current);
    expect(signingKeysOf(end(overlap), account).current).toBe(during.next);
  });

  it('change key by key through several master secrets', () => {
    let master = secret;
    let one = account;
    let known = signingKeysOf(master, one);
    const step = (change: () => void): void => {
      change();
      const keys = signingKeysOf(master, one);
      // Receivers know the keys that were shown last.
      expect([known.current, known.next]).toContain(keys.current);
      known = keys;
    };
    for (let turn = 0; turn < 6; turn += 1) {
      step(() => (master = begin(master, `${young} ${turn}`)));
      // Some accounts rotate their keys during the change, some after it, some never.
      if (turn % 3 === 1) step(() => (one = rotated(master, one)));
      step(() => (master = end(master)));
      if (turn % 3 === 2) step(() => (one = rotated(master, one)));
    }
    expect(() => end(master)).toThrow('There is no overlap to end');
    expect(() => begin(begin(master, 'x'.repeat(32)), 'y'.repeat(32))).toThrow('is not over yet');
  });

  it('may be rotated during the change', () => {
    const during = signingKeysOf(overlap, account);
    const after = rotated(overlap, account);
    expect(signingKeysOf(overlap, after).current).toBe(during.next);
    expect(signingKeysOf(end(overlap), after)).toEqual(signingKeysOf(overlap, after));
  });

  it('may be rotated after it, even by an account that did not change during it', () => {
    const ended = end(overlap);
    const before = signingKeysOf(ended, account);
    expect(signingKeysOf(ended, rotated(ended, account)).current).toBe(before.next);
  });

  it('of an account do not reveal the master secret through their mark', () => {
    expect(secretMark(old)).toMatch(/^[0-9a-f]{16}$/);
    expect(old).not.toContain(secretMark(old));
  });
});

describe('the mark of a delivery that may reach an API', () => {
  const markOf = (of: MasterSecret, path: string): string => loopMarkHeaders(of, 'Svc', path)[0]?.[1] ?? '';
  const mark = markOf(secret, '/api/v2/publish/https://example.com?x=/v2/batch');

  it('is recognized at any host and mapping, and with any path encoding of a gateway', () => {
    for (const path of ['/v2/publish/https:/example.com', '/v2/publish/other', '/base/v2/publish']) {
      expect(isOwnDelivery(secret, path, mark)).toBe(true);
    }
  });

  it.each([
    '/v2/%70ublish/https://example.com',
    '/%76%32/publish/https://example.com',
    '/v2%2Fpublish/https://example.com',
    '/v2/%2570ublish/https://example.com',
    '//v2//publish/https://example.com',
    '/v2/./publish/https://example.com',
    '/other/%2e%2e/v2/publish/y',
    '/v2/../v2/publish/y',
    '/v2/%2e%2e/v2/publish/y',
    '/v2/publish/https://example.com/../../../../%zz?to=%zz',
  ])('is the same for a destination that spells the path %s', (path) => {
    expect(markOf(secret, path)).toBe(mark);
    expect(isOwnDelivery(secret, path, mark)).toBe(true);
    // The path may have been decoded on the way.
    expect(isOwnDelivery(secret, '/v2/publish/https:/example.com', markOf(secret, path))).toBe(true);
  });

  it('is for one operation and one deployment', () => {
    expect(isOwnDelivery(secret, '/v2/batch', mark)).toBe(false);
    expect(isOwnDelivery({ current: young }, '/v2/publish/x', mark)).toBe(false);
    expect(isOwnDelivery(secret, '/health', '')).toBe(false);
    expect(isOwnDelivery(secret, '/v2/publish/x', '')).toBe(false);
  });

  it('is recognized while the master secret changes', () => {
    expect(isOwnDelivery(overlap, '/v2/publish/x', mark)).toBe(true);
    expect(isOwnDelivery(overlap, '/v2/publish/x', markOf(overlap, '/v2/publish/x'))).toBe(true);
  });

  it('is missing if the path is not one of an API', () => {
    for (const path of ['/', '/hook', '/v2', '/v2/', '/hook?to=/v2/publish']) {
      expect(loopMarkHeaders(secret, 'Svc', path)).toEqual([]);
    }
    expect(loopMarkHeaders(secret, 'Upstash', '/v2/batch')[0]?.[0]).toBe('upstash-circle-mark');
  });
});
