import { describe, expect, it } from 'vitest';
import type { Account } from '../../../lambdas/domain/account.ts';
import { readToken, signingKeysOf, tokenOf, verifyToken } from '../../../lambdas/domain/credentials.ts';

const secret = 'a master secret of enough characters';
const account: Account = {
  id: 'acct',
  customerId: undefined,
  plan: 'paid',
  region: 'eu-central-1',
  active: true,
  state: 'active',
  tokenGeneration: 1,
  signingGeneration: 1,
  createdAt: 0,
  limits: {},
};

describe('a token', () => {
  it('names its account and is verified without being stored', () => {
    for (const access of ['write', 'read'] as const) {
      const parts = readToken(tokenOf(secret, account, access));
      expect(parts?.accountId).toBe('acct');
      expect(verifyToken(secret, account, parts?.password ?? '')).toBe(access);
    }
  });

  it('ends with its generation, its account and its secret', () => {
    const password = readToken(tokenOf(secret, account, 'write'))?.password ?? '';
    expect(verifyToken(secret, { ...account, tokenGeneration: 2 }, password)).toBeUndefined();
    expect(verifyToken(secret, { ...account, id: 'other' }, password)).toBeUndefined();
    expect(verifyToken(`${secret}!`, account, password)).toBeUndefined();
    expect(verifyToken(secret, account, '')).toBeUndefined();
  });

  it.each(['', 'x', 'e30=', Buffer.from('null').toString('base64'), Buffer.from('[1]').toString('base64')])(
    '%j is none',
    (text) => {
      expect(readToken(text)).toBeUndefined();
    },
  );
});

describe('signing keys', () => {
  it('move up by one at a rotation', () => {
    const before = signingKeysOf(secret, account);
    const after = signingKeysOf(secret, { ...account, signingGeneration: 2 });
    expect(after.current).toBe(before.next);
    expect(after.next).not.toBe(before.next);
    expect(before.current).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  });
});
