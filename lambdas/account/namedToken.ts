/** Named tokens, for programs that need less access than an account's own two tokens give. */
import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import type { Readable } from '../options/option.ts';
import { now } from '../shared/clock.ts';
import type { Account } from './account.ts';
import { derive, encodeToken, type Access, type MasterSecret } from './credentials.ts';

export const scopes = ['full', 'read', 'publish'] as const;
export type TokenScope = (typeof scopes)[number];

/**
 * A named token, without its secret, which is derived. Only the day of its last use changes. Rotations are in
 * the account's row.
 */
export const namedToken = z.object({
  id: z.string(),
  accountId: z.string(),
  name: z.string(),
  scope: z.enum(scopes),
  /** The destinations to which the token may publish, as `onlyTo.ts` reads them; undefined for all. */
  destinations: z.optional(z.array(z.string())),
  /** The maker: the id of a named token, `token` for the account's own, or `operator`. */
  maker: z._default(z.string(), 'operator'),
  createdAt: z.number(),
  /** When the token expires. */
  endsAt: z.optional(z.number()),
  /** The day of the last use, such as `2026-11-20`, UTC. */
  lastUsed: z.optional(z.string()),
});
export type NamedToken = Readable<z.infer<typeof namedToken>>;

export const mostNamedTokens = 50;

export const newTokenId = (): string => `tok_${randomBytes(8).toString('hex')}`;

export const accessOf: Readonly<Record<TokenScope, Access | 'publish'>> = {
  full: 'write',
  read: 'read',
  publish: 'publish',
};

/**
 * The password depends on the account's creation time, so a new account does not accept the tokens of a
 * deleted one with the same id.
 */
const namedPassword = (
  masterSecret: string,
  { id, createdAt }: Account,
  tokenId: string,
  generation: number,
): string => {
  const purpose = generation === 0 ? `token-${tokenId}` : `token-${tokenId}-${generation}`;
  return `${tokenId}.${derive(masterSecret, purpose, id, createdAt).toString('base64url')}`;
};

const unrotated = { generation: 0, earliest: 0, until: 0 };

export const rotationOf = ({ tokenRotations = [] }: Account, tokenId: string) =>
  tokenRotations.find(({ id }) => id === tokenId) ?? { id: tokenId, ...unrotated };

/** The passwords that are accepted, newest first. */
export function namedPasswords(masterSecret: string, account: Account, tokenId: string): readonly string[] {
  const { generation, earliest, until } = rotationOf(account, tokenId);
  const others = now() < until ? generation - earliest : 0;
  return Array.from({ length: others + 1 }, (_, age) =>
    namedPassword(masterSecret, account, tokenId, generation - age),
  );
}

export const namedTokenOf = ({ current }: MasterSecret, account: Account, tokenId: string): string => {
  const { generation } = rotationOf(account, tokenId);
  return encodeToken({
    UserID: account.id,
    Password: namedPassword(current, account, tokenId, generation),
  });
};

/** How many earlier secrets stay valid during an overlap: a rotation is repeated if its answer is lost. */
const mostEarlier = 4;

/**
 * Gives a token another secret. Without an overlap, earlier secrets are refused at once, even if clocks
 * differ.
 */
export function rotatedToken(account: Account, tokenId: string, overlapMs: number): Account {
  const { generation, earliest, until } = rotationOf(account, tokenId);
  const time = now();
  const next = generation + 1;
  const oldest = Math.max(until > time ? earliest : generation, next - mostEarlier);
  const rotation =
    overlapMs === 0
      ? { id: tokenId, generation: next, earliest: next, until: 0 }
      : { id: tokenId, generation: next, earliest: oldest, until: time + overlapMs };
  const others = (account.tokenRotations ?? []).filter(({ id }) => id !== tokenId);
  return { ...account, tokenRotations: [...others, rotation] };
}
