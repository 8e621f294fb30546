/** Requests with a named token. Loaded when needed, because few processes get any. */
import { settings } from '../aws/settings.ts';
import { onlyTo } from '../destination/onlyTo.ts';
import { forbidden, HttpError } from '../error/httpError.ts';
import { cached } from '../shared/cached.ts';
import { dayMs, dayOf, now } from '../shared/clock.ts';
import type { Account } from './account.ts';
import type { Caller } from './caller.ts';
import { isPassword, secretsOf, type Access, type MasterSecret } from './credentials.ts';
import { accessOf, namedPasswords, type NamedToken } from './namedToken.ts';
import { loadNamedToken, namedTokenKey } from './namedTokens.ts';
import { update } from '../aws/writes.ts';

const tokenIdIn = (password: string): string => password.split('.', 1)[0] ?? '';

/** @returns undefined if the password is wrong or the token was revoked */
export function verifyNamed(secret: MasterSecret, account: Account, given: string): Access | undefined {
  const id = tokenIdIn(given);
  if (account.tokenIds?.includes(id) !== true) return undefined;
  // Only whether the password is right. The scope is in the token's row.
  const accepted = secretsOf(secret).flatMap((one) => namedPasswords(one, account, id));
  return accepted.some((one) => isPassword(one, given)) ? 'read' : undefined;
}

/** The row of a token is read once: only the day of its last use changes. */
const known = cached(dayMs, (key: string) => {
  const [accountId = '', tokenId = ''] = key.split('/');
  return loadNamedToken(accountId, tokenId);
});

export async function callerWith(account: Account, password: string): Promise<Caller | HttpError> {
  const named = await known(`${account.id}/${tokenIdIn(password)}`);
  const bearer = { 'www-authenticate': 'Bearer' };
  if (named === undefined) return new HttpError(401, 'token_invalid', 'The token was revoked.', bearer);
  const { id, endsAt = Infinity, scope, destinations } = named;
  if (now() < endsAt) {
    const own = destinations === undefined ? account : { ...account, scope: onlyTo(id, destinations) };
    return { account: own, access: accessOf[scope], named };
  }
  return new HttpError(
    401,
    'token_expired',
    `The token expired at ${new Date(endsAt).toISOString()}.`,
    bearer,
  );
}

export const onlyPublishes = (): HttpError =>
  forbidden(
    'token_scope_exceeded',
    'The token is only for publishing; this operation requires another token.',
  );

/** The day of the last known use, by token id. */
const lastUses = new Map<string, string>();
const mostLastUses = 1_000;

/**
 * Records that a token is used, once a day. If a process has an outdated copy of the row, it reads the row
 * again first.
 */
export async function noteUse({ id, accountId, lastUsed }: NamedToken): Promise<void> {
  const today = dayOf(now());
  if (lastUsed === today || lastUses.get(id) === today) return;
  if (lastUses.size >= mostLastUses) lastUses.clear();
  lastUses.set(id, today);
  try {
    await writeUse(accountId, id, today);
  } catch (error) {
    lastUses.delete(id);
    throw error;
  }
}

async function writeUse(accountId: string, id: string, today: string): Promise<void> {
  if ((await loadNamedToken(accountId, id))?.lastUsed === today) return;
  await update(settings.accountsTable, namedTokenKey(accountId, id), 'SET lastUsed = :today', {
    // The token may have been revoked, and its row removed.
    onlyIf: 'attribute_exists(#name) AND (attribute_not_exists(lastUsed) OR lastUsed < :today)',
    values: { today },
  });
}
