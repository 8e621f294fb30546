import { isServed, type Account } from '../domain/account.ts';
import { readToken, verifyToken, type Access, type MasterSecret } from '../domain/credentials.ts';
import { HttpError } from '../domain/httpError.ts';
import { loadAccount } from '../stores/accounts.ts';
import { masterSecret, renewedMasterSecret } from '../stores/secrets.ts';
import { settings } from '../settings.ts';
import { orUndefined } from './orUndefined.ts';

export interface Caller {
  readonly account: Account;
  /** What its token lets it do. */
  readonly access: Access;
}

const unauthorized = (message: string): HttpError =>
  new HttpError(401, message, { 'www-authenticate': 'Bearer' });

/**
 * Finds out who sends a request. The account is read anew each time, strongly consistent, so that a reset of its
 * tokens holds from the next request on.
 *
 * @throws HttpError 401
 */
export async function authenticate(token: string | undefined): Promise<Caller> {
  if (token === undefined || token === '') {
    throw unauthorized(
      'The token is missing; send it as the header Authorization: Bearer <token> or as the query parameter svc_token.',
    );
  }
  const parts = readToken(token);
  if (parts === undefined) throw unauthorized('The token is malformed; use it exactly as it was issued.');

  const [account, secret] = await Promise.all([loadAccount(parts.accountId, true), masterSecret()]);
  const access = account && (await verify(account, secret, parts.password));
  if (account === undefined || access === undefined) throw unauthorized('The token is not valid.');
  if (account.region !== settings.region) {
    throw unauthorized(`The token belongs to the region ${account.region}; this is ${settings.region}.`);
  }
  if (!isServed(account)) throw unauthorized('The account is not active.');
  return { account, access };
}

/** A token that does not verify may be of a master secret that this process has not heard of yet. */
async function verify(account: Account, secret: MasterSecret, password: string): Promise<Access | undefined> {
  const access = verifyToken(secret, account, password);
  if (access !== undefined) return access;
  const renewed = await orUndefined(renewedMasterSecret());
  return renewed && verifyToken(renewed, account, password);
}
