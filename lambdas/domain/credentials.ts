/**
 * Tokens and signing keys. None is stored: each is derived with HMAC-SHA-256 from the deployment's master
 * secret, the account's id and a generation, so that a leaked table lets nobody in.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import * as z from 'zod/mini';
import type { Account } from './account.ts';
import type { Header } from './dialect.ts';

export type Access = 'write' | 'read';

const derive = (masterSecret: string, purpose: string, accountId: string, generation: number): Buffer =>
  createHmac('sha256', masterSecret)
    .update(JSON.stringify([purpose, accountId, generation]))
    .digest();

const password = (masterSecret: string, account: Account, access: Access): string =>
  derive(masterSecret, `token-${access}`, account.id, account.tokenGeneration).toString('base64url');

/** The base64 of `{"UserID","Password"}`, so that the account is found by its key. */
export function tokenOf(masterSecret: string, account: Account, access: Access): string {
  const parts = { UserID: account.id, Password: password(masterSecret, account, access) };
  return Buffer.from(JSON.stringify(parts)).toString('base64');
}

export interface TokenParts {
  readonly accountId: string;
  readonly password: string;
}

const tokenShape = z.object({ UserID: z.string().check(z.minLength(1)), Password: z.string() });

/** What a token says of itself, unverified; undefined when it is no token at all. */
export function readToken(token: string): TokenParts | undefined {
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(token, 'base64').toString('utf8'));
  } catch {
    return undefined;
  }
  const parts = tokenShape.safeParse(json);
  return parts.success ? { accountId: parts.data.UserID, password: parts.data.Password } : undefined;
}

/** The token of an `Authorization: Bearer` header, whoever issued it. */
export function bearerToken(headers: readonly Header[]): string | undefined {
  const authorization = headers.find(([name]) => name === 'authorization')?.[1];
  return /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
}

const same = (one: string, other: string): boolean => {
  const digest = (text: string): Buffer => createHmac('sha256', 'compare').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
};

/** What a token's bearer may do with the account; undefined when its password is not the account's. */
export function verifyToken(masterSecret: string, account: Account, given: string): Access | undefined {
  const accesses: readonly Access[] = ['write', 'read'];
  return accesses.find((access) => same(password(masterSecret, account, access), given));
}

export interface SigningKeys {
  readonly current: string;
  readonly next: string;
}

/**
 * The account's signing keys. Their form, `whsec_` and base64, is that of the Standard Webhooks specification, so
 * that its libraries take them as they are; the JWT is keyed with the whole string.
 */
export function signingKeysOf(masterSecret: string, account: Account): SigningKeys {
  const key = (generation: number): string =>
    `whsec_${derive(masterSecret, 'signing', account.id, generation).toString('base64')}`;
  return { current: key(account.signingGeneration), next: key(account.signingGeneration + 1) };
}
