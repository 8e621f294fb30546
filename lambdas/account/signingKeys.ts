import type { Account } from './account.ts';
import type * as answers from '../wire/accountAnswers.ts';
import type { Answer } from '../wire/answers.ts';
import { givenTo, rotatedSigning, signingKeysOf, tokenOf, type MasterSecret } from './credentials.ts';
import { forbidden, type HttpError } from '../error/httpError.ts';
import { changeAccount } from './accounts.ts';
import { masterSecret } from './secrets.ts';

export const getSigningKeys = async (account: Account): Promise<Answer<typeof answers.signingKeys>> =>
  signingKeysOf(await masterSecret(), account);

export const credentialsFixed = (): HttpError =>
  forbidden(
    'credentials_fixed',
    'The token and the signing keys of this account are fixed while the local stage runs with --dev; start it without, to rotate them.',
  );

/** @throws HttpError 403 if the keys are fixed, or 503 */
export const rotateSigningKeys = (account: Account): Promise<Answer<typeof answers.signingKeys>> =>
  rotated(account, rotatedSigning, signingKeysOf);

/** Rotates the account's own two tokens. @throws HttpError 403 if they are fixed, or 503 */
export const rotateOwnTokens = (account: Account): Promise<Answer<typeof answers.ownTokens>> =>
  rotated(
    account,
    (_secret, { tokenGeneration }) => ({ tokenGeneration: tokenGeneration + 1 }),
    (secret, after) => ({
      token: tokenOf(secret, after, 'write'),
      readOnlyToken: tokenOf(secret, after, 'read'),
    }),
  );

async function rotated<T>(
  account: Account,
  change: (secret: MasterSecret, before: Account) => Partial<Account>,
  shown: (secret: MasterSecret, after: Account) => T,
): Promise<T> {
  const secret = await masterSecret();
  if (givenTo(secret, account.id) !== undefined) throw credentialsFixed();
  return shown(secret, await changeAccount(account, (before) => change(secret, before)));
}
