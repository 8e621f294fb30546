import { createHash } from 'node:crypto';
import type * as z from 'zod/mini';
import { isDeleted } from '../account/account.ts';
import { keepInSecret } from '../account/secrets.ts';
import { getSigningKeys } from '../account/signingKeys.ts';
import { HttpError, quote } from '../error/httpError.ts';
import { createAccount, updateAccount } from '../management/accounts.ts';
import { existingAccount, findAccount } from '../management/replicas.ts';
import { ignoreMissing } from './ignoreMissing.ts';
import type { accountInput } from './event.ts';

type AccountInput = z.infer<typeof accountInput>;

const bytesOf = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

/**
 * Makes the account, or changes it and lets it work again. Its credentials go into its secret and nowhere else.
 *
 * @param before what was wanted until now: a field that is no longer wanted goes back to the plan's value
 * @throws HttpError 400, 409 for an account that was deleted, or 503
 */
export async function ensureAccount(
  { id, fields, url, secret }: AccountInput,
  before: AccountInput | undefined,
  requestId: string,
): Promise<void> {
  const existing = await findAccount(id);
  if (existing !== undefined && isDeleted(existing))
    throw new HttpError(409, 'account_exists', `The account ${quote(id)} was deleted: give it another name.`);
  const ended = Object.keys(before?.fields ?? {}).map((name) => [name, null] as const);
  const wanted = { ...Object.fromEntries(ended), ...fields, active: true };
  const record =
    existing === undefined
      ? await createAccount(bytesOf({ id, ...fields }))
      : await updateAccount(id, bytesOf(wanted));
  const { current, next } = await getSigningKeys(await existingAccount(id));
  const credentials = {
    QSTASH_URL: url,
    QSTASH_TOKEN: record.token,
    QSTASH_READ_ONLY_TOKEN: record.read_only_token,
    QSTASH_CURRENT_SIGNING_KEY: current,
    QSTASH_NEXT_SIGNING_KEY: next,
  };
  await keepInSecret(secret, JSON.stringify(credentials), versionOf(requestId));
}

/** The id of the secret's version that a request makes: the same when it comes twice. Secrets Manager takes 32 characters or more. */
const versionOf = (requestId: string): string =>
  createHash('sha256').update(requestId).digest('hex').slice(0, 32);

/** Suspends the account. Its data stays, and its token is the same when it comes back. */
export const suspendAccount = (id: string): Promise<void> =>
  ignoreMissing(updateAccount(id, bytesOf({ active: false })));
