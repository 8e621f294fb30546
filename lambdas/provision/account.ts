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
 * Creates the account, or changes and reactivates it. Its credentials are written only to its secret.
 *
 * @param before the previous input: a field that is no longer given returns to the plan's value
 * @throws HttpError 400, 409 for a deleted account, or 503
 */
export async function ensureAccount(
  { id, fields, url, secret }: AccountInput,
  before: AccountInput | undefined,
  requestId: string,
): Promise<void> {
  const existing = await findAccount(id);
  if (existing !== undefined && isDeleted(existing))
    throw new HttpError(
      409,
      'account_exists',
      `The account ${quote(id)} was deleted: restore it, or give it another name.`,
    );
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

/**
 * The id of the secret's version, the same if the request is repeated. Secrets Manager requires at least 32
 * characters.
 */
const versionOf = (requestId: string): string =>
  createHash('sha256').update(requestId).digest('hex').slice(0, 32);

/** Suspends the account. Its data and its token are kept, in case it is reactivated. */
export const suspendAccount = (id: string): Promise<void> =>
  ignoreMissing(updateAccount(id, bytesOf({ active: false })));
