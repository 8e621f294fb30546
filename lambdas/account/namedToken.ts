/** Named tokens, for programs that need less access than an account's own two tokens give. */
import { randomBytes } from 'node:crypto';
import type { Account } from './account.ts';
import { derive, encodeToken, type Access, type MasterSecret } from './credentials.ts';

export const scopes = ['full', 'read', 'publish'] as const;
export type TokenScope = (typeof scopes)[number];

/** A named token without its derived secret. Only its last use ever changes. */
export interface NamedToken {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly scope: TokenScope;
  /** The destinations that it may publish to, as `onlyTo.ts` reads them; undefined for all. */
  readonly destinations?: readonly string[] | undefined;
  /** The id of the named token that made it, `token` for the account's own, or `operator`. */
  readonly maker: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Unix milliseconds from which on it is refused. */
  readonly endsAt?: number | undefined;
  /** The day of its last use, as `2026-11-20`, UTC. */
  readonly lastUsed?: string | undefined;
}

/** For each account. */
export const mostNamedTokens = 50;

export const newTokenId = (): string => `tok_${randomBytes(8).toString('hex')}`;

export const accessOf: Readonly<Record<TokenScope, Access | 'publish'>> = {
  full: 'write',
  read: 'read',
  publish: 'publish',
};

/** Depends on the account's creation time, so a new account with a deleted one's id does not accept its tokens. */
export const namedPassword = (masterSecret: string, { id, createdAt }: Account, tokenId: string): string =>
  `${tokenId}.${derive(masterSecret, `token-${tokenId}`, id, createdAt).toString('base64url')}`;

export const namedTokenOf = ({ current }: MasterSecret, account: Account, tokenId: string): string =>
  encodeToken({ UserID: account.id, Password: namedPassword(current, account, tokenId) });
