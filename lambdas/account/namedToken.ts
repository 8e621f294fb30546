/** Named tokens, for programs that need less access than an account's own two tokens give. */
import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import type { Readable } from '../options/option.ts';
import type { Account } from './account.ts';
import { derive, encodeToken, type Access, type MasterSecret } from './credentials.ts';

export const scopes = ['full', 'read', 'publish'] as const;
export type TokenScope = (typeof scopes)[number];

/** A named token without its derived secret. Only its last use ever changes. */
export const namedToken = z.object({
  id: z.string(),
  accountId: z.string(),
  name: z.string(),
  scope: z.enum(scopes),
  /** The destinations that it may publish to, as `onlyTo.ts` reads them; undefined for all. */
  destinations: z.optional(z.array(z.string())),
  /** The id of the named token that made it, `token` for the account's own, or `operator`. */
  maker: z._default(z.string(), 'operator'),
  /** Unix milliseconds. */
  createdAt: z.number(),
  /** Unix milliseconds from which on it is refused. */
  endsAt: z.optional(z.number()),
  /** The day of its last use, as `2026-11-20`, UTC. */
  lastUsed: z.optional(z.string()),
});
export type NamedToken = Readable<z.infer<typeof namedToken>>;

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
