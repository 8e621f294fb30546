import { isServed, type Account } from './account.ts';
import { now } from '../shared/clock.ts';
import { readToken, verifyToken, type Access, type MasterSecret } from './credentials.ts';
import type { Caller } from './caller.ts';
import type { CodeOf } from '../error/errorCodes.ts';
import { givenCredentials } from './givenCredentials.ts';
import { HttpError } from '../error/httpError.ts';
import { loadAccount } from './accounts.ts';
import { masterSecret, renewedMasterSecret } from './secrets.ts';
import { settings } from '../aws/settings.ts';
import { createKnownAccounts } from './knownAccounts.ts';

const unauthorized = (code: CodeOf<401>, message: string): HttpError =>
  new HttpError(401, code, message, { 'www-authenticate': 'Bearer' });

const accounts = createKnownAccounts((id) => loadAccount(id, true), now);

/**
 * Finds the account of a token. The account is read for each request, strongly consistent, so that replaced
 * tokens are refused at once (a second later if the account may send very many requests).
 *
 * @throws HttpError 401
 */
export async function authenticate(token: string | undefined): Promise<Caller> {
  if (token === undefined || token === '') {
    throw unauthorized(
      'token_missing',
      'The token is missing; send it as the header Authorization: Bearer <token> or as the query parameter svc_token.',
    );
  }
  const parts = readToken(token, givenCredentials());
  if (parts === undefined)
    throw unauthorized('token_invalid', 'The token is malformed; use it exactly as it was issued.');

  const [{ account, isRead }, secret] = await Promise.all([accounts.find(parts.accountId), masterSecret()]);
  const caller = await judge(account, secret, parts.password);
  if (!(caller instanceof HttpError)) return caller;
  // Before a request is refused, the account is read again, because its token may be new.
  const latest = isRead ? caller : await judge(await accounts.read(parts.accountId), secret, parts.password);
  if (latest instanceof HttpError) throw latest;
  return latest;
}

/** @returns the caller, or the refusal */
async function judge(
  account: Account | undefined,
  secret: MasterSecret,
  password: string,
): Promise<Caller | HttpError> {
  // Only passwords of named tokens have a dot. Their code is loaded when needed.
  const named = password.includes('.') ? await import('./namedCaller.ts') : undefined;
  const access = account && (await verify(account, secret, password, named?.verifyNamed ?? verifyToken));
  if (account === undefined || access === undefined)
    return unauthorized('token_invalid', 'The token is not valid.');
  if (account.region !== settings.region) {
    return unauthorized(
      'wrong_region',
      `The token belongs to the region ${account.region}; this is ${settings.region}.`,
    );
  }
  if (!isServed(account)) return unauthorized('account_inactive', 'The account is not active.');
  return named === undefined ? { account, access } : named.callerWith(account, password);
}

/** If the token is wrong, the master secret is read again, because it may have changed. */
async function verify(
  account: Account,
  secret: MasterSecret,
  password: string,
  by: typeof verifyToken,
): Promise<Access | undefined> {
  return by(secret, account, password) ?? by(await renewedMasterSecret(), account, password);
}
