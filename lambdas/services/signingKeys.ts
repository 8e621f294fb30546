import type { Account } from '../domain/account.ts';
import type * as answers from '../domain/answers.ts';
import type { Answer } from '../domain/answers.ts';
import { rotatedSigning, signingKeysOf } from '../domain/credentials.ts';
import { HttpError } from '../domain/httpError.ts';
import { loadAccount, saveAccount } from '../stores/accounts.ts';
import { masterSecret } from '../stores/secrets.ts';

export const getSigningKeys = async (account: Account): Promise<Answer<typeof answers.signingKeys>> =>
  signingKeysOf(await masterSecret(), account);

/** How often a change is made anew on the outcome of another. */
const tries = 5;

/**
 * Makes the next signing key the current one, and a new one the next.
 *
 * @throws HttpError 503
 */
export async function rotateSigningKeys(account: Account): Promise<Answer<typeof answers.signingKeys>> {
  const secret = await masterSecret();
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const before = attempt === 0 ? account : await loadAccount(account.id, true);
    if (before === undefined) break;
    const after = { ...before, ...rotatedSigning(secret, before), version: before.version + 1 };
    if (await saveAccount(after, before)) return signingKeysOf(secret, after);
  }
  throw new HttpError(503, 'The account is being changed by others; send the request again.');
}
