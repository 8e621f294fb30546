/**
 * Named tokens, as an operator makes and revokes them. The account's row has their ids, and decides which are valid; each has a row
 * with the rest.
 */
import type * as answers from '../wire/accountAnswers.ts';
import type { Answer } from '../wire/answers.ts';
import { isDeleted, type Account } from '../account/account.ts';
import { mostNamedTokens, namedTokenOf, newTokenId, type NamedToken } from '../account/namedToken.ts';
import { deleteNamedToken, loadNamedToken, saveNamedToken } from '../account/namedTokens.ts';
import { saveAccount } from '../account/accounts.ts';
import { masterSecret } from '../account/secrets.ts';
import { retryOnConflict } from '../aws/retryOnConflict.ts';
import { parsePattern } from '../destination/onlyTo.ts';
import { badField, notFound, overLimit, quote, quoteJson } from '../error/httpError.ts';
import { dayMs, now, secondMs } from '../shared/clock.ts';
import { parseShape } from '../shared/json.ts';
import { allowedToken, newTokenInput } from './accountShapes.ts';
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

/** Lists an account's named tokens, the newest first, without their secrets. @throws HttpError 404 or 503 */
export async function listTokens(id: string): Promise<Answer<typeof answers.namedTokens>> {
  return (await tokensOf(await liveAccount(id))).map(recordOf).reverse();
}

/** Reads a request for a named token. @throws HttpError 400 */
function readToken(body: Uint8Array): Pick<NamedToken, 'name' | 'scope' | 'destinations' | 'endsAt'> {
  const {
    name,
    scope,
    destinations,
    expires_at: expiresAt,
  } = parseShape('The body', body, newTokenInput, allowedToken);
  if (expiresAt !== undefined && expiresAt * secondMs <= now()) {
    throw badField(
      `expires_at is ${expiresAt}, which is over; allowed is a moment to come, in Unix seconds, or null.`,
    );
  }
  if (destinations !== undefined && scope !== 'publish') {
    throw badField(`destinations is given with the scope ${scope}; allowed is that with the scope publish.`);
  }
  const patterns = destinations?.map((text, index) => {
    const pattern = parsePattern(text);
    if (pattern !== undefined) return pattern;
    throw badField(
      `destinations.${index} is ${quoteJson(text)}; allowed is what a URL begins with, http:// or https:// and its host at least, without user, query and fragment, the ARN of a Lambda function, group:<name> for a URL group, or queue:<name>.`,
    );
  });
  return {
    name,
    scope,
    destinations: patterns && [...new Set(patterns)],
    endsAt: expiresAt && expiresAt * secondMs,
  };
}

/** A token that was made by a request that died, and that nobody was shown, is gone after this. */
const unfinishedMs = dayMs;

/**
 * Makes a named token. Its row is written first and expires soon; it stays once the account's row has the token's id. So wherever this
 * dies, nothing stays that nobody knows.
 *
 * @throws HttpError 400, 404, 412 or 503; nothing is changed then
 */
export async function createToken(
  id: string,
  body: Uint8Array,
  address?: string,
): Promise<Answer<typeof answers.madeToken>> {
  const asked = readToken(body);
  const first = await liveAccount(id);
  const token: NamedToken = { ...asked, id: newTokenId(), accountId: first.id, createdAt: now() };
  const entry = { action: 'token.create', subject: token.id, address } as const;
  const account = await auditedIn(first, entry, () => writeToken(first, token));
  return { ...recordOf(token), token: namedTokenOf(await masterSecret(), account, token.id) };
}

/** @returns the account, which has the token's id now */
async function writeToken(first: Account, token: NamedToken): Promise<Account> {
  await answerOf(first.region, saveNamedToken(token, first.region, now() + unfinishedMs));
  const account = await changeTokens(first, async (before) => {
    // Tokens that ended long ago, or were never finished, have no row any more.
    const known = (await tokensOf(before)).filter((one) => one.id !== token.id);
    if (known.length >= mostNamedTokens) {
      throw overLimit(
        'token_limit_reached',
        `The token would be number ${known.length + 1}, but an account may have ${mostNamedTokens} named tokens.`,
      );
    }
    return [...known.map((one) => one.id), token.id];
  });
  await answerOf(account.region, saveNamedToken(token, account.region));
  return account;
}

/**
 * Revokes a named token: requests with it are refused once this has answered. Its row goes first, so that a request that died is
 * finished when it is sent again.
 *
 * @returns the token
 * @throws HttpError 404 or 503
 */
export async function revokeToken(id: string, tokenId: string, address?: string): Promise<TokenRecord> {
  const account = await liveAccount(id);
  const none = notFound('token_not_found', `The account has no token ${quote(tokenId)}.`);
  if (account.tokenIds?.includes(tokenId) !== true) throw none;
  const token = await answerOf(account.region, loadNamedToken(account.id, tokenId, account.region));
  await auditedIn(account, { action: 'token.revoke', subject: tokenId, address }, async () => {
    await answerOf(account.region, deleteNamedToken(account.id, tokenId, account.region));
    await changeTokens(account, ({ tokenIds = [] }) => tokenIds.filter((one) => one !== tokenId));
  });
  if (token === undefined) throw none;
  return recordOf(token);
}

/**
 * Changes the ids of an account's named tokens, on the condition that no other request changed the account meanwhile.
 *
 * @param read the account as it was read for this request
 */
function changeTokens(
  read: Account,
  changed: (before: Account) => readonly string[] | Promise<readonly string[]>,
): Promise<Account> {
  let known: Account | undefined = read;
  return retryOnConflict(busySentence(read.id), async () => {
    const before = known ?? (await liveAccount(read.id));
    known = undefined;
    const after = { ...before, tokenIds: await changed(before), version: before.version + 1 };
    return (await answerOf(before.region, saveAccount(after, before))) ? after : undefined;
  });
}
