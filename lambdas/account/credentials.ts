/**
 * Tokens and signing keys are not stored. They are derived by HMAC-SHA-256 from the master secret, the
 * account's id and a generation. So a leaked table gives no access.
 */
import { headerName, type Header } from '../shared/headers.ts';
import { createHmac, timingSafeEqual } from 'node:crypto';
import * as z from 'zod/mini';
import type { Account } from './account.ts';

export type Access = 'write' | 'read';

/** Fixed credentials in place of derived ones. Deployments never have them; see `giveCredentials`. */
export interface GivenCredentials {
  readonly accountId: string;
  readonly token: { readonly UserID: string; readonly Password: string };
  readonly signingKeys: SigningKeys;
}

/** The deployment's master secret, and the previous one during a rotation. */
export interface MasterSecret {
  readonly current: string;
  readonly previous?: string | undefined;
  /** The marks of earlier master secrets, oldest first; see {@link secretMark}. */
  readonly retired?: readonly string[] | undefined;
  readonly given?: GivenCredentials | undefined;
}

/** Fixed credentials are not changed by rotations. */
export const givenTo = (
  { given }: Pick<MasterSecret, 'given'>,
  accountId: string,
): GivenCredentials | undefined => (given?.accountId === accountId ? given : undefined);

/** @param purpose a unique name for the derived value */
export const derive = (
  masterSecret: string,
  purpose: string,
  accountId: string,
  generation: number,
): Buffer =>
  createHmac('sha256', masterSecret)
    .update(JSON.stringify([purpose, accountId, generation]))
    .digest();

/** @param purpose see {@link derive} */
export const macOf = (masterSecret: string, purpose: string, accountId: string, text: string): string =>
  createHmac('sha256', derive(masterSecret, purpose, accountId, 0))
    .update(text)
    .digest('base64url');

/** Derived passwords, which depend only on the account as it was read. Each request needs one. */
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

/** Makes a token: base64 of `{"UserID","Password"}`. `UserID` is the key of the account's row. */
export function tokenOf(secret: MasterSecret, account: Account, access: Access): string {
  const given = access === 'write' ? givenTo(secret, account.id)?.token : undefined;
  const parts = given ?? { UserID: account.id, Password: password(secret.current, account, access) };
  return encodeToken(parts);
}

export const encodeToken = (parts: { readonly UserID: string; readonly Password: string }): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64');

interface TokenParts {
  readonly accountId: string;
  readonly password: string;
}

/** The longest account id in a token or a webhook's URL. */
export const longestAccountId = 100;

const tokenShape = z.object({
  UserID: z.string().check(z.minLength(1), z.maxLength(longestAccountId)),
  Password: z.string(),
});

/**
 * Reads a token without verifying it.
 *
 * @returns undefined if it is malformed
 */
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

/** Finds the token in `Authorization`. It may be for another service. */
export function bearerToken(headers: readonly Header[]): string | undefined {
  const authorization = headers.find(([name]) => name === 'authorization')?.[1];
  return /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
}

/** Compares two texts in constant time. */
export const sameText = (one: string, other: string): boolean => {
  const digest = (text: string): Buffer => createHmac('sha256', 'compare').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
};

/** Like {@link sameText} with less CPU, for texts whose length is not secret. */
export function isPassword(derived: string, given: string): boolean {
  const [one, other] = [Buffer.from(derived), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}

export const secretsOf = ({ current, previous }: MasterSecret): readonly string[] =>
  previous === undefined ? [current] : [current, previous];

/** @returns undefined if the password is wrong */
export function verifyToken(secret: MasterSecret, account: Account, given: string): Access | undefined {
  const fixed = givenTo(secret, account.id)?.token.Password;
  if (fixed !== undefined && sameText(fixed, given)) return 'write';
  const accesses: readonly Access[] = ['write', 'read'];
  return accesses.find((access) =>
    secretsOf(secret).some((one) => isPassword(password(one, account, access), given)),
  );
}

/** How many percent-encodings are undone: each proxy on the way may undo one. */
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
 * Finds the API operation in a path, such as `/v2/publish`, even if it is percent-encoded or has extra
 * slashes or dot segments. The rest of the path is a destination and is not decoded.
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
 * The mark of a delivery whose path could be that of an API of this deployment. It is made for the operation
 * in the path, which no gateway changes. Undefined if the path is not of an API.
 */
function loopMarkOf(masterSecret: string, path: string): string | undefined {
  const operation = operationIn(path);
  if (operation === undefined) return undefined;
  return createHmac('sha256', masterSecret)
    .update(JSON.stringify(['circle', operation]))
    .digest('base64url');
}

/**
 * The header by which this deployment's APIs recognize their own deliveries, under any host name.
 *
 * @param path the path of the destination
 * @returns no header if the path is not of an API
 */
export function loopMarkHeaders({ current }: MasterSecret, prefix: string, path: string): readonly Header[] {
  const mark = loopMarkOf(current, path);
  return mark === undefined ? [] : [[headerName(prefix, loopMarkHeader).toLowerCase(), mark]];
}

/** The canonical name of the header from {@link loopMarkHeaders}, for all versions and deployments. */
export const loopMarkHeader = 'circle-mark';

/**
 * Whether a request is this deployment's delivery to itself. A receiver may copy a delivery's headers into
 * its own request to the API. The API accepts it, because the mark is for another path.
 */
export const isOwnDelivery = (secret: MasterSecret, path: string, mark: string): boolean =>
  secretsOf(secret).some((one) => loopMarkOf(one, path) === mark);

export interface SigningKeys {
  readonly current: string;
  readonly next: string;
}

/** Identifies a master secret, without revealing it. */
export const secretMark = (masterSecret: string): string =>
  createHmac('sha256', masterSecret).update('mark').digest('hex').slice(0, 16);

const signingKey = (masterSecret: string, account: Account, generation: number): string =>
  `whsec_${derive(masterSecret, 'signing', account.id, generation).toString('base64')}`;

type SigningState = Pick<Account, 'signingGeneration' | 'signingSecret'>;

/**
 * Finds the generation of an account's current signing key, and its master secret.
 *
 * The account's row has a mark of the master secret with which the generation began. Each later master secret
 * counts as one more generation. During a rotation of the master secret, deliveries are signed with the key
 * that receivers know, and the API already shows the next key, which is derived from the newest master
 * secret.
 */
function signingState(
  { current, previous, retired = [] }: MasterSecret,
  { signingGeneration, signingSecret }: Account,
): { readonly generation: number; readonly from: string } {
  const followers = previous === undefined ? [secretMark(current)] : [previous, current].map(secretMark);
  const all = [...retired, ...followers];
  // A row without a mark was written before the first rotation.
  const began = Math.max(0, all.indexOf(signingSecret ?? ''));
  const signing = Math.max(began, retired.length);
  return {
    generation: signingGeneration + signing - began,
    from: signing === all.length - 1 ? current : (previous ?? current),
  };
}

/**
 * The keys have the form of Standard Webhooks (`whsec_` and base64), so that its libraries accept them. The
 * JWT's key is the whole string.
 */
export function signingKeysOf(secret: MasterSecret, account: Account): SigningKeys {
  const known = derivedKeys.get(account);
  if (known?.secret === secret) return known.keys;
  const keys = givenTo(secret, account.id)?.signingKeys ?? deriveKeys(secret, account);
  derivedKeys.set(account, { secret, keys });
  return keys;
}

/** Kept as long as the account object, so that the deliveries of a batch share them. */
const derivedKeys = new WeakMap<Account, { readonly secret: MasterSecret; readonly keys: SigningKeys }>();

function deriveKeys(secret: MasterSecret, account: Account): SigningKeys {
  const { generation, from } = signingState(secret, account);
  return {
    current: signingKey(from, account, generation),
    next: signingKey(secret.current, account, generation + 1),
  };
}

export function rotatedSigning(secret: MasterSecret, account: Account): SigningState {
  const { generation } = signingState(secret, account);
  return { signingGeneration: generation + 1, signingSecret: secretMark(secret.current) };
}
