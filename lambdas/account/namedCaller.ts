/** Requests with a named token. Few processes see one, so that this is loaded for the first. */
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { settings } from '../aws/settings.ts';
import { dynamodb, unlessRefused } from '../aws/dynamodb.ts';
import { onlyTo } from '../destination/onlyTo.ts';
import { forbidden, HttpError } from '../error/httpError.ts';
import { cached } from '../shared/cached.ts';
import { dayMs, dayOf, now } from '../shared/clock.ts';
import type { Account } from './account.ts';
import type { Caller } from './caller.ts';
import { isPassword, secretsOf, type Access, type MasterSecret } from './credentials.ts';
import { accessOf, namedPassword, type NamedToken } from './namedToken.ts';
import { loadNamedToken, namedTokenKey } from './namedTokens.ts';

/** The id of the token that a password is of. */
const tokenIdIn = (password: string): string => password.split('.', 1)[0] ?? '';

/**
 * Verifies the password of a named token, as `verifyToken` does that of the account's own.
 *
 * @returns undefined when it is wrong, or the token was revoked
 */
export function verifyNamed(secret: MasterSecret, account: Account, given: string): Access | undefined {
  const id = tokenIdIn(given);
  if (account.tokenIds?.includes(id) !== true) return undefined;
  // The token's row says later what it may do.
  return secretsOf(secret).some((one) => isPassword(namedPassword(one, account, id), given))
    ? 'read'
    : undefined;
}

/** A token's row is read once: nothing of it changes but the last use. */
const known = cached(dayMs, (key: string) => {
  const [accountId = '', tokenId = ''] = key.split('/');
  return loadNamedToken(accountId, tokenId);
});

/** @returns the caller with a named token whose password is right, or the refusal */
export async function callerWith(account: Account, password: string): Promise<Caller | HttpError> {
  const named = await known(`${account.id}/${tokenIdIn(password)}`);
  const bearer = { 'www-authenticate': 'Bearer' };
  if (named === undefined) return new HttpError(401, 'token_invalid', 'The token was revoked.', bearer);
  const { endsAt = Infinity, scope, destinations } = named;
  if (now() < endsAt) {
    const own = destinations === undefined ? account : { ...account, scope: onlyTo(destinations) };
    return { account: own, access: accessOf[scope], named };
  }
  return new HttpError(401, 'token_expired', `The token ended at ${new Date(endsAt).toISOString()}.`, bearer);
}

/** The refusal of all but publishes, of a token of the scope `publish`. */
export const onlyPublishes = (): HttpError =>
  forbidden('token_scope_exceeded', 'The token is for publishing; this operation takes another token.');

/** The day of its last use that this process knows, by the token's id. */
const lastUses = new Map<string, string>();
const mostLastUses = 1_000;

/**
 * Notes that a named token was used. One write a day and token is made, by the process that comes first: another that has read the
 * token before reads it once more, and finds it noted.
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
  await unlessRefused(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.accountsTable,
        Key: namedTokenKey(accountId, id),
        UpdateExpression: 'SET lastUsed = :today',
        // A token that was revoked meanwhile gets no row.
        ConditionExpression:
          'attribute_exists(#name) AND (attribute_not_exists(lastUsed) OR lastUsed < :today)',
        ExpressionAttributeNames: { '#name': 'name' },
        ExpressionAttributeValues: { ':today': { S: today } },
      }),
    ),
  );
}
