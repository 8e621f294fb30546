/**
 * Named tokens, as an operator or the account itself makes and revokes them. The account's row has their ids, and decides which are
 * valid; each has a row with the rest.
 */
import type * as answers from '../wire/accountAnswers.ts';
import type { Answer } from '../wire/answers.ts';
import { changesBetween, type Changes, type Values } from '../audit/changes.ts';
import { isDeleted, type Account } from '../account/account.ts';
import { mostNamedTokens, namedTokenOf, newTokenId, type NamedToken } from '../account/namedToken.ts';
import { deleteNamedToken, loadNamedToken, saveNamedToken } from '../account/namedTokens.ts';
import { loadAccount, saveAccount } from '../account/accounts.ts';
import { masterSecret } from '../account/secrets.ts';
import { retryOnConflict } from '../aws/retryOnConflict.ts';
import { forbidden, HttpError, notFound, overLimit, quote } from '../error/httpError.ts';
import { dayMs, now, secondMs } from '../shared/clock.ts';
import { readOwnToken, readToken, type AskedToken } from './rules/tokenFields.ts';
import { auditedIn } from './auditedIn.ts';
import { answerOf, busySentence, existingAccount } from './replicas.ts';

type TokenRecord = Answer<typeof answers.namedToken>;

const seconds = (time: number): number => Math.floor(time / secondMs);

const recordOf = ({
  id,
  name,
  scope,
  destinations,
  createdAt,
  endsAt,
  lastUsed,
}: NamedToken): TokenRecord => ({
  id,
  name,
  scope,
  destinations,
  created_at: seconds(createdAt),
  expires_at: endsAt && seconds(endsAt),
  last_used: lastUsed,
});

/** What a token may do, for the audit trail. */
export function tokenChanges(before: TokenRecord | undefined, after: TokenRecord | undefined): Changes {
  const values = (record: TokenRecord | undefined): Values => {
    const { name, scope, destinations, expires_at } = record ?? {};
    return { name, scope, destinations, expires_at };
  };
  return changesBetween(values(before), values(after));
}

/** @throws HttpError 404 for no account, and for a deleted one; 503 */
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

/** Lists an account's named tokens, the newest first, without their secrets. @throws HttpError 503 */
export const listOwnTokens = async (account: Account): Promise<Answer<typeof answers.namedTokens>> =>
  (await tokensOf(account)).map(recordOf).reverse();

/** Lists the named tokens of an account that an operator names. @throws HttpError 404 or 503 */
export const listTokens = async (id: string): Promise<Answer<typeof answers.namedTokens>> =>
  listOwnTokens(await liveAccount(id));

/** A token that was made by a request that died, and that nobody was shown, is gone after this. */
const unfinishedMs = dayMs;

type MadeToken = Answer<typeof answers.madeToken>;

/**
 * Makes a named token for an account that an operator names.
 *
 * @throws HttpError 400, 404, 412 or 503; nothing is changed then
 */
export async function createToken(id: string, body: Uint8Array, address?: string): Promise<MadeToken> {
  const asked = readToken(body);
  const account = await liveAccount(id);
  const token = newToken(account, asked);
  const changes = tokenChanges(undefined, recordOf(token));
  const entry = { action: 'token.create', subject: token.id, address, changes } as const;
  return auditedIn(account, entry, () => makeToken(account, token, () => liveAccount(id)));
}

/** A full token is the operator's to make and to revoke. */
const isOwn = ({ scope }: Pick<NamedToken, 'scope'>): boolean => scope !== 'full';

/** Reads an account again that is served in this region. */
const sameAccount =
  ({ id }: Account): Reload =>
  async () => {
    const account = await loadAccount(id, true);
    if (account === undefined || isDeleted(account)) throw new HttpError(503, 'busy', busySentence(id));
    return account;
  };

/**
 * Makes a named token that an account asks for itself.
 *
 * @throws HttpError 400, 412 or 503; nothing is changed then
 */
export async function createOwnToken(account: Account, body: Uint8Array): Promise<MadeToken> {
  const asked = readOwnToken(body);
  return makeToken(account, newToken(account, asked), sameAccount(account));
}

const newToken = ({ id }: Account, asked: AskedToken): NamedToken => ({
  ...asked,
  id: newTokenId(),
  accountId: id,
  createdAt: now(),
});

/** Reads the latest of an account. */
type Reload = () => Promise<Account>;

/**
 * Makes a token. Its row is written first and expires soon; it stays once the account's row has the token's id. So wherever this dies,
 * no token stays that nobody knows.
 */
async function makeToken(first: Account, token: NamedToken, reload: Reload): Promise<MadeToken> {
  await answerOf(first.region, saveNamedToken(token, first.region, now() + unfinishedMs));
  const account = await changeTokens(
    first,
    async (before) => {
      // Tokens that ended long ago, or were never finished, have no row any more.
      const known = (await tokensOf(before)).filter((one) => one.id !== token.id);
      if (known.length >= mostNamedTokens) {
        throw overLimit(
          'token_limit_reached',
          `The token would be number ${known.length + 1}, but an account may have ${mostNamedTokens} named tokens.`,
        );
      }
      return [...known.map((one) => one.id), token.id];
    },
    reload,
  );
  await answerOf(account.region, saveNamedToken(token, account.region));
  return { ...recordOf(token), token: namedTokenOf(await masterSecret(), account, token.id) };
}

/**
 * Revokes a named token of an account that an operator names: requests with it are refused once this has answered.
 *
 * @returns the token
 * @throws HttpError 404 or 503
 */
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

/**
 * Revokes a named token that an account asks for itself.
 *
 * @returns the token
 * @throws HttpError 403 for a full one; 404 or 503
 */
export async function revokeOwnToken(account: Account, tokenId: string): Promise<TokenRecord> {
  const token = await tokenOf(account, tokenId);
  if (token !== undefined && !isOwn(token)) {
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

/** @returns undefined for a token whose row a request has removed that died. @throws HttpError 404 or 503 */
function tokenOf({ id, region, tokenIds = [] }: Account, tokenId: string): Promise<NamedToken | undefined> {
  if (!tokenIds.includes(tokenId)) throw noToken(tokenId);
  return answerOf(region, loadNamedToken(id, tokenId, region));
}

/** Removes a token. Its row goes first, so that a request that died is finished when it is sent again. */
async function removeToken(account: Account, tokenId: string, reload: Reload): Promise<void> {
  await answerOf(account.region, deleteNamedToken(account.id, tokenId, account.region));
  await changeTokens(account, ({ tokenIds = [] }) => tokenIds.filter((one) => one !== tokenId), reload);
}

/**
 * Changes the ids of an account's named tokens, on the condition that no other request changed the account meanwhile.
 *
 * @param read the account as it was read for this request
 */
function changeTokens(
  read: Account,
  changed: (before: Account) => readonly string[] | Promise<readonly string[]>,
  reload: Reload,
): Promise<Account> {
  let known: Account | undefined = read;
  return retryOnConflict(busySentence(read.id), async () => {
    const before = known ?? (await reload());
    known = undefined;
    const after = { ...before, tokenIds: await changed(before), version: before.version + 1 };
    return (await answerOf(before.region, saveAccount(after, before))) ? after : undefined;
  });
}
