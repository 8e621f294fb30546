/**
 * Named tokens. An account's row has the ids of its valid tokens. Each token has a separate row with its
 * other fields.
 */
import { operator } from '../audit/audited.ts';
import type * as answers from '../wire/accountAnswers.ts';
import type { Answer } from '../wire/answers.ts';
import { changesBetween, type Changes, type Values } from '../audit/changes.ts';
import { isDeleted, type Account } from '../account/account.ts';
import {
  mostNamedTokens,
  namedTokenOf,
  newTokenId,
  rotatedToken,
  rotationOf,
  type NamedToken,
} from '../account/namedToken.ts';
import { deleteNamedToken, loadNamedToken, saveNamedToken } from '../account/namedTokens.ts';
import { loadAccount, saveAccount } from '../account/accounts.ts';
import { masterSecret } from '../account/secrets.ts';
import { retryOnConflict } from '../aws/retryOnConflict.ts';
import { forbidden, HttpError, notFound, overLimit, quote } from '../error/httpError.ts';
import { dayMs, now, secondMs } from '../shared/clock.ts';
import { readOverlap, readToken, type AskedToken } from './rules/tokenFields.ts';
import { auditedIn } from './auditedIn.ts';
import { answerOf, busySentence, existingAccount } from './replicas.ts';

type TokenRecord = Answer<typeof answers.namedToken>;

const seconds = (time: number): number => Math.floor(time / secondMs);

const recordOf = ({ id, name, scope, destinations, ...token }: NamedToken, of?: Account): TokenRecord => ({
  ...{ id, name, scope, destinations },
  made_by: token.maker,
  created_at: seconds(token.createdAt),
  expires_at: token.endsAt && seconds(token.endsAt),
  last_used: token.lastUsed,
  overlap_until: of && overlapUntil(of, id),
});

function overlapUntil(account: Account, id: string): number | undefined {
  const { until } = rotationOf(account, id);
  return until > now() ? seconds(until) : undefined;
}

const valuesOf = ({ name, scope, destinations, made_by, expires_at }: Partial<TokenRecord> = {}): Values => ({
  ...{ name, scope, destinations, made_by, expires_at },
});

export const tokenChanges = (before: TokenRecord | undefined, after: TokenRecord | undefined): Changes =>
  changesBetween(valuesOf(before), valuesOf(after));

/** @throws HttpError 404 for an unknown or deleted account; 503 */
async function liveAccount(id: string): Promise<Account> {
  const account = await existingAccount(id);
  if (isDeleted(account))
    throw notFound('account_not_found', `The account ${quote(account.id)} was deleted.`);
  return account;
}

const tokensOf = async ({ id, region, tokenIds = [] }: Account): Promise<readonly NamedToken[]> => {
  const all = await Promise.all(
    tokenIds.map((tokenId) => answerOf(region, loadNamedToken(id, tokenId, region))),
  );
  return all.flatMap((token) => token ?? []);
};

/**
 * Lists tokens, newest first, without their secrets.
 *
 * @throws HttpError 503
 */
export const listOwnTokens = async (account: Account): Promise<Answer<typeof answers.namedTokens>> =>
  (await tokensOf(account)).map((token) => recordOf(token, account)).reverse();

/** Called by the operator. @throws HttpError 404 or 503 */
export const listTokens = async (id: string): Promise<Answer<typeof answers.namedTokens>> =>
  listOwnTokens(await liveAccount(id));

interface Maker {
  readonly account: Account;
  readonly named?: NamedToken;
}
type MadeToken = Answer<typeof answers.madeToken>;

/** Called by the operator. @throws HttpError 400, 404, 412 or 503 */
export async function createToken(id: string, body: Uint8Array, address?: string): Promise<MadeToken> {
  const asked = readToken(body, 'operator');
  const account = await liveAccount(id);
  const token = newToken(account, asked, operator);
  const changes = tokenChanges(undefined, recordOf(token));
  const entry = { action: 'token.create', subject: token.id, address, changes } as const;
  return auditedIn(account, entry, () => makeToken(account, token, () => liveAccount(id)));
}

/** Checks that this region still serves the account. */
const sameAccount =
  ({ id }: Account): Reload =>
  async () => {
    const account = await loadAccount(id, true);
    if (account === undefined || isDeleted(account)) throw new HttpError(503, 'busy', busySentence(id));
    return account;
  };

/** Called by the account. @throws HttpError 400, 401, 412 or 503 */
export async function createOwnToken({ account, named }: Maker, body: Uint8Array): Promise<MadeToken> {
  const token = newToken(account, readToken(body, 'account', named?.endsAt), named?.id ?? 'token');
  return makeToken(account, token, sameAccount(account));
}

const newToken = ({ id }: Account, asked: AskedToken, maker: string): NamedToken => ({
  ...asked,
  maker,
  id: newTokenId(),
  accountId: id,
  createdAt: now(),
});

type Reload = () => Promise<Account>;

/**
 * Makes a token. Its row is written first, to expire after a day; the expiry is removed when the account's
 * row has the token's id. So if the process dies, no unused row is left.
 */
async function makeToken(first: Account, token: NamedToken, reload: Reload): Promise<MadeToken> {
  await answerOf(first.region, saveNamedToken(token, first.region, now() + dayMs));
  const account = await changeTokens(
    first,
    async (before) => {
      // Ids of tokens without a row are dropped: these expired long ago or were never finished.
      const known = (await tokensOf(before)).map(({ id }) => id).filter((id) => id !== token.id);
      if (known.length >= mostNamedTokens) {
        throw overLimit(
          'token_limit_reached',
          `The token would be number ${known.length + 1}, but an account may have ${mostNamedTokens} named tokens.`,
        );
      }
      if (![operator, 'token', ...known].includes(token.maker))
        throw new HttpError(401, 'token_invalid', 'The token was revoked.');
      return [...known, token.id];
    },
    reload,
  );
  await answerOf(account.region, saveNamedToken(token, account.region));
  return { ...recordOf(token), token: namedTokenOf(await masterSecret(), account, token.id) };
}

/** Called by the operator. The token is refused from this answer on. @throws HttpError 404 or 503 */
export async function revokeToken(id: string, tokenId: string, address?: string): Promise<TokenRecord> {
  const account = await liveAccount(id);
  const token = await tokenOf(account, tokenId);
  const changes = tokenChanges(token && recordOf(token), undefined);
  await auditedIn(account, { action: 'token.revoke', subject: tokenId, address, changes }, () =>
    removeToken(account, tokenId, () => liveAccount(id)),
  );
  if (token === undefined) throw noToken(tokenId);
  return recordOf(token);
}

/** Called by the account. @throws HttpError 403 for a full token; 404 or 503 */
export async function revokeOwnToken(account: Account, tokenId: string): Promise<TokenRecord> {
  const token = await tokenOf(account, tokenId);
  if (token?.scope === 'full') {
    throw forbidden(
      'token_scope_exceeded',
      `The token ${quote(tokenId)} may do everything; the operator of the service revokes it.`,
    );
  }
  await removeToken(account, tokenId, sameAccount(account));
  if (token === undefined) throw noToken(tokenId);
  return recordOf(token);
}

const noToken = (tokenId: string): HttpError =>
  notFound('token_not_found', `The account has no token ${quote(tokenId)}.`);

/**
 * @returns undefined if a request that died had removed the token's row
 * @throws HttpError 404 or 503
 */
function tokenOf({ id, region, tokenIds = [] }: Account, tokenId: string): Promise<NamedToken | undefined> {
  if (!tokenIds.includes(tokenId)) throw noToken(tokenId);
  return answerOf(region, loadNamedToken(id, tokenId, region));
}

/**
 * Removes a token and the tokens that it made, which cannot make others. Their rows are deleted first, so
 * that a repeated request can finish if this one dies.
 */
async function removeToken(account: Account, tokenId: string, reload: Reload): Promise<void> {
  const isRemoved = ({ id, maker }: NamedToken): boolean => id === tokenId || maker === tokenId;
  await changeTokens(
    account,
    async (before) => {
      const all = await tokensOf(before);
      const rows = all.filter(isRemoved).map(({ id }) => deleteNamedToken(before.id, id, before.region));
      await answerOf(before.region, Promise.all(rows));
      return all.flatMap((one) => (isRemoved(one) ? [] : one.id));
    },
    reload,
  );
}

/**
 * Gives a token another secret. Its id, rights and expiry stay.
 *
 * @throws HttpError 400, 404 or 503
 */
async function rotate(account: Account, tokenId: string, body: Uint8Array, reload: Reload): Promise<Rotated> {
  const { overlap, overlapMs } = readOverlap(body);
  const token = await tokenOf(account, tokenId);
  if (token === undefined) throw noToken(tokenId);
  const after = await changeAccount(account, (before) => rotatedToken(before, tokenId, overlapMs), reload);
  const changes = changesBetween(undefined, { overlap });
  return {
    body: { ...recordOf(token, after), token: namedTokenOf(await masterSecret(), after, tokenId) },
    changes,
  };
}

interface Rotated {
  readonly body: MadeToken;
  readonly changes: Changes;
}

/** Called by the operator. @throws HttpError 400, 404 or 503 */
export async function rotateToken(
  id: string,
  tokenId: string,
  body: Uint8Array,
  address?: string,
): Promise<MadeToken> {
  const account = await liveAccount(id);
  const rotated = await auditedIn(
    account,
    { action: 'token.rotate', subject: tokenId, address },
    () => rotate(account, tokenId, body, () => liveAccount(id)),
    ({ changes }) => changes,
  );
  return rotated.body;
}

/**
 * Called by the account. A named token can rotate only tokens that it made; otherwise it would learn a secret
 * that stays valid when it is revoked itself.
 *
 * @throws HttpError 400, 403, 404 or 503
 */
export async function rotateOwnToken(
  { account, named }: Maker,
  tokenId: string,
  body: Uint8Array,
): Promise<Rotated> {
  const token = await tokenOf(account, tokenId);
  if (token !== undefined && (token.scope === 'full' || (named && token.maker !== named.id))) {
    throw forbidden(
      'token_scope_exceeded',
      `The token ${quote(tokenId)} may do everything, or was not made by this one; the operator of the service rotates it.`,
    );
  }
  return rotate(account, tokenId, body, sameAccount(account));
}

/** @param read the account as this request has read it */
const changeTokens = (
  read: Account,
  changed: (before: Account) => readonly string[] | Promise<readonly string[]>,
  reload: Reload,
): Promise<Account> =>
  changeAccount(
    read,
    async (before) => {
      const tokenIds = await changed(before);
      const tokenRotations = before.tokenRotations?.filter(({ id }) => tokenIds.includes(id));
      return { ...before, tokenIds, tokenRotations };
    },
    reload,
  );

function changeAccount(
  read: Account,
  changed: (before: Account) => Account | Promise<Account>,
  reload: Reload,
): Promise<Account> {
  let known: Account | undefined = read;
  return retryOnConflict(busySentence(read.id), async () => {
    const before = known ?? (await reload());
    known = undefined;
    const after = { ...(await changed(before)), version: before.version + 1 };
    return (await answerOf(before.region, saveAccount(after, before))) ? after : undefined;
  });
}
