/**
 * Tokens and signing keys. They are not stored: each is derived with HMAC-SHA-256 from the deployment's master secret, the
 * account's id and a generation, so that nobody gets in with a table that leaked.
 */
import { headerName, type Header } from '../shared/headers.ts';
import { createHmac, timingSafeEqual } from 'node:crypto';
import * as z from 'zod/mini';
import type { Account } from './account.ts';

/** The rights of the two tokens that each account has. */
export type Access = 'write' | 'read';

/** A token for everything and signing keys that are not derived. A deployment has none; see `giveCredentials`. */
export interface GivenCredentials {
  readonly accountId: string;
  readonly token: { readonly UserID: string; readonly Password: string };
  readonly signingKeys: SigningKeys;
}

/** The deployment's master secret; while it is being rotated, also the one before. */
export interface MasterSecret {
  readonly current: string;
  readonly previous?: string | undefined;
  /** The marks of the master secrets before these, the oldest first; see {@link secretMark}. */
  readonly retired?: readonly string[] | undefined;
  readonly given?: GivenCredentials | undefined;
}

/** Finds the credentials that an account is given. They are fixed: a rotation would not change them. */
export const givenTo = (
  { given }: Pick<MasterSecret, 'given'>,
  accountId: string,
): GivenCredentials | undefined => (given?.accountId === accountId ? given : undefined);

/** @param purpose what is derived; no two things share one */
export const derive = (
  masterSecret: string,
  purpose: string,
  accountId: string,
  generation: number,
): Buffer =>
  createHmac('sha256', masterSecret)
    .update(JSON.stringify([purpose, accountId, generation]))
    .digest();

/** Passwords of accounts as they were read: one is asked for at each request, and follows from nothing else. */
const knownPasswords = new WeakMap<Account, Map<string, string>>();

function password(masterSecret: string, account: Account, access: Access): string {
  const known = knownPasswords.get(account) ?? new Map<string, string>();
  const key = `${access} ${masterSecret}`;
  const text =
    known.get(key) ??
    derive(masterSecret, `token-${access}`, account.id, account.tokenGeneration).toString('base64url');
  knownPasswords.set(account, known.set(key, text));
  return text;
}

/** Makes a token: the base64 of `{"UserID","Password"}`, whose first field is the key of the account's row. */
export function tokenOf(secret: MasterSecret, account: Account, access: Access): string {
  const given = access === 'write' ? givenTo(secret, account.id)?.token : undefined;
  const parts = given ?? { UserID: account.id, Password: password(secret.current, account, access) };
  return encodeToken(parts);
}

export const encodeToken = (parts: { readonly UserID: string; readonly Password: string }): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64');

export interface TokenParts {
  readonly accountId: string;
  readonly password: string;
}

/** Characters of an account's id in a token or a webhook's URL; no account has a longer one. */
export const longestAccountId = 100;

const tokenShape = z.object({
  UserID: z.string().check(z.minLength(1), z.maxLength(longestAccountId)),
  Password: z.string(),
});

/** Reads a token without verifying it; undefined when it is not one. */
export function readToken(token: string, given?: GivenCredentials): TokenParts | undefined {
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(token, 'base64').toString('utf8'));
  } catch {
    return undefined;
  }
  const parts = tokenShape.safeParse(json);
  if (!parts.success) return undefined;
  const { UserID: user, Password: password } = parts.data;
  return { accountId: user === given?.token.UserID ? given.accountId : user, password };
}

/** Reads the token of an `Authorization: Bearer` header, which need not be one of this service. */
export function bearerToken(headers: readonly Header[]): string | undefined {
  const authorization = headers.find(([name]) => name === 'authorization')?.[1];
  return /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
}

/** Compares two texts in a time that does not depend on where they differ. */
export const sameText = (one: string, other: string): boolean => {
  const digest = (text: string): Buffer => createHmac('sha256', 'compare').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
};

/** Compares as {@link sameText} does, with less CPU, a text whose length everybody knows. */
export function isPassword(derived: string, given: string): boolean {
  const [one, other] = [Buffer.from(derived), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}

export const secretsOf = ({ current, previous }: MasterSecret): readonly string[] =>
  previous === undefined ? [current] : [current, previous];

/** Verifies a token's password, and gives the access that the token has; undefined when the password is wrong. */
export function verifyToken(secret: MasterSecret, account: Account, given: string): Access | undefined {
  const fixed = givenTo(secret, account.id)?.token.Password;
  if (fixed !== undefined && sameText(fixed, given)) return 'write';
  const accesses: readonly Access[] = ['write', 'read'];
  return accesses.find((access) =>
    secretsOf(secret).some((one) => isPassword(password(one, account, access), given)),
  );
}

/** Decodings of a path: each proxy on the way may undo one. */
const mostDecodings = 5;

function fullyDecoded(segment: string): string {
  let text = segment;
  for (let times = 0; times < mostDecodings; times += 1) {
    try {
      const decoded = decodeURIComponent(text);
      if (decoded === text) return text;
      text = decoded;
    } catch {
      return text;
    }
  }
  return text;
}

/**
 * Finds the operation of an API in a path, such as `/v2/publish`, however the path is spelled: percent-encoded, with several
 * slashes, or with segments of dots. Undefined for a path that no API has. Only the operation is read so, not what stands
 * behind it, which is a destination.
 */
function operationIn(path: string): string | undefined {
  const [raw = ''] = path.split('?', 1);
  const passed: string[] = [];
  for (const segment of raw.split('/').flatMap((text) => fullyDecoded(text).split('/'))) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..') passed.pop();
    else if (passed.at(-1) === 'v2') return `/v2/${segment}`;
    else passed.push(segment);
  }
  return undefined;
}

/**
 * Makes the mark of a delivery that may come back to an API of this deployment. It depends on the operation that the path names,
 * which no gateway on the way changes. Undefined for a path that no API has.
 */
function loopMarkOf(masterSecret: string, path: string): string | undefined {
  const operation = operationIn(path);
  if (operation === undefined) return undefined;
  return createHmac('sha256', masterSecret)
    .update(JSON.stringify(['circle', operation]))
    .digest('base64url');
}

/**
 * Makes the header by which the APIs of this deployment recognize a delivery that comes back to them, whatever their host
 * is called.
 *
 * @param path the path of the destination
 * @returns no header for a path that no API has
 */
export function loopMarkHeaders({ current }: MasterSecret, prefix: string, path: string): readonly Header[] {
  const mark = loopMarkOf(current, path);
  return mark === undefined ? [] : [[headerName(prefix, loopMarkHeader).toLowerCase(), mark]];
}

/** The canonical name of the header that {@link loopMarkHeaders} gives. Deployments of all versions know it by this one. */
export const loopMarkHeader = 'circle-mark';

/**
 * Tells whether a request is a delivery of this deployment to itself. A receiver that copies a delivery's headers into a
 * request of its own is not refused: the mark it copied is that of another path.
 */
export const isOwnDelivery = (secret: MasterSecret, path: string, mark: string): boolean =>
  secretsOf(secret).some((one) => loopMarkOf(one, path) === mark);

export interface SigningKeys {
  readonly current: string;
  readonly next: string;
}

/** Makes a mark that tells master secrets apart, and does not reveal them. */
export const secretMark = (masterSecret: string): string =>
  createHmac('sha256', masterSecret).update('mark').digest('hex').slice(0, 16);

const signingKey = (masterSecret: string, account: Account, generation: number): string =>
  `whsec_${derive(masterSecret, 'signing', account.id, generation).toString('base64')}`;

type SigningState = Pick<Account, 'signingGeneration' | 'signingSecret'>;

/**
 * Finds the generation of an account's current signing key, and the master secret from which that key is derived. The next
 * key is one generation further, and always derived from the newest master secret.
 *
 * The account's row says with which master secret its generation began; each master secret that followed counts as one more
 * generation. So while one master secret follows another, deliveries are still signed with the key that receivers know, and
 * the API already shows the key that comes next; when the overlap ends, that key becomes the current one.
 */
function signingState(
  { current, previous, retired = [] }: MasterSecret,
  { signingGeneration, signingSecret }: Account,
): { readonly generation: number; readonly from: string } {
  const followers = previous === undefined ? [secretMark(current)] : [previous, current].map(secretMark);
  const all = [...retired, ...followers];
  // A row that does not say so is from before a master secret was ever rotated: it began with the first.
  const began = Math.max(0, all.indexOf(signingSecret ?? ''));
  const signing = Math.max(began, retired.length);
  return {
    generation: signingGeneration + signing - began,
    from: signing === all.length - 1 ? current : (previous ?? current),
  };
}

/**
 * Makes the account's signing keys. Their form, `whsec_` and base64, is that of the Standard Webhooks specification, so that
 * its libraries take them as they are. The key of the JWT is the whole string.
 */
export function signingKeysOf(secret: MasterSecret, account: Account): SigningKeys {
  const known = derivedKeys.get(account);
  if (known?.secret === secret) return known.keys;
  const keys = givenTo(secret, account.id)?.signingKeys ?? deriveKeys(secret, account);
  derivedKeys.set(account, { secret, keys });
  return keys;
}

/** Keys derived for an account as it was read, for as long as a process keeps that: ten deliveries of a batch share them. */
const derivedKeys = new WeakMap<Account, { readonly secret: MasterSecret; readonly keys: SigningKeys }>();

function deriveKeys(secret: MasterSecret, account: Account): SigningKeys {
  const { generation, from } = signingState(secret, account);
  return {
    current: signingKey(from, account, generation),
    next: signingKey(secret.current, account, generation + 1),
  };
}

/** Rotates the signing keys: the next becomes the current one. */
export function rotatedSigning(secret: MasterSecret, account: Account): SigningState {
  const { generation } = signingState(secret, account);
  return { signingGeneration: generation + 1, signingSecret: secretMark(secret.current) };
}
