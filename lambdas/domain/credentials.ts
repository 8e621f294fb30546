/**
 * Tokens and signing keys. None is stored: each is derived with HMAC-SHA-256 from the deployment's master
 * secret, the account's id and a generation, so that a leaked table lets nobody in.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import * as z from 'zod/mini';
import type { Account } from './account.ts';
import type { Header } from './dialect.ts';

export type Access = 'write' | 'read';

/** The deployment's master secret; while it is being rotated, also the one before. */
export interface MasterSecret {
  readonly current: string;
  readonly previous?: string | undefined;
  /** The marks of those before, the oldest first. */
  readonly retired?: readonly string[] | undefined;
}

const derive = (masterSecret: string, purpose: string, accountId: string, generation: number): Buffer =>
  createHmac('sha256', masterSecret)
    .update(JSON.stringify([purpose, accountId, generation]))
    .digest();

const password = (masterSecret: string, account: Account, access: Access): string =>
  derive(masterSecret, `token-${access}`, account.id, account.tokenGeneration).toString('base64url');

/** The base64 of `{"UserID","Password"}`, so that the account is found by its key. */
export function tokenOf({ current }: MasterSecret, account: Account, access: Access): string {
  const parts = { UserID: account.id, Password: password(current, account, access) };
  return Buffer.from(JSON.stringify(parts)).toString('base64');
}

export interface TokenParts {
  readonly accountId: string;
  readonly password: string;
}

const tokenShape = z.object({
  UserID: z.string().check(z.minLength(1), z.maxLength(100)),
  Password: z.string(),
});

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

/** Compares in a time that tells nothing of where two texts differ. */
export const sameText = (one: string, other: string): boolean => {
  const digest = (text: string): Buffer => createHmac('sha256', 'compare').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
};

const secretsOf = ({ current, previous }: MasterSecret): readonly string[] =>
  previous === undefined ? [current] : [current, previous];

/** What a token's bearer may do with the account; undefined when its password is not the account's. */
export function verifyToken(secret: MasterSecret, account: Account, given: string): Access | undefined {
  const accesses: readonly Access[] = ['write', 'read'];
  return accesses.find((access) =>
    secretsOf(secret).some((one) => sameText(password(one, account, access), given)),
  );
}

export interface SigningKeys {
  readonly current: string;
  readonly next: string;
}

/** Tells master secrets apart, and nothing of what they are. */
export const secretMark = (masterSecret: string): string =>
  createHmac('sha256', masterSecret).update('mark').digest('hex').slice(0, 16);

const signingKey = (masterSecret: string, account: Account, generation: number): string =>
  `whsec_${derive(masterSecret, 'signing', account.id, generation).toString('base64')}`;

type SigningState = Pick<Account, 'signingGeneration' | 'signingSecret'>;

/**
 * Where an account's signing keys stand under a master secret. Each key is one generation further than the one before, and
 * the next key is always derived from the newest master secret. So while one master secret follows another, deliveries are
 * signed with the key that receivers know, and are shown the one that comes then; when the overlap ends, that one is the
 * current. The account's row says with which master secret its generation began, and each that has followed since counts
 * as a generation.
 */
function signingState(
  { current, previous, retired = [] }: MasterSecret,
  { signingGeneration, signingSecret }: Account,
): { readonly generation: number; readonly from: string } {
  const followers = previous === undefined ? [secretMark(current)] : [previous, current].map(secretMark);
  const all = [...retired, ...followers];
  // A row from before rows said so began with the first.
  const began = Math.max(0, all.indexOf(signingSecret ?? ''));
  const signing = Math.max(began, retired.length);
  return {
    generation: signingGeneration + signing - began,
    from: signing === all.length - 1 ? current : (previous ?? current),
  };
}

/**
 * The account's signing keys. Their form, `whsec_` and base64, is that of the Standard Webhooks specification, so
 * that its libraries take them as they are; the JWT is keyed with the whole string.
 */
export function signingKeysOf(secret: MasterSecret, account: Account): SigningKeys {
  const { generation, from } = signingState(secret, account);
  return {
    current: signingKey(from, account, generation),
    next: signingKey(secret.current, account, generation + 1),
  };
}

/** What a rotation of the signing keys makes of them: next becomes current. */
export function rotatedSigning(secret: MasterSecret, account: Account): SigningState {
  const { generation } = signingState(secret, account);
  return { signingGeneration: generation + 1, signingSecret: secretMark(secret.current) };
}
