import { accountLifetimeMs, isRemoved, isServed, type Account } from './account.ts';
import { log } from '../aws/log.ts';
import { loadAccount } from './accounts.ts';
import { cached } from '../shared/cached.ts';

/**
 * Accounts rarely change, and the next signing key is known in advance, so deliveries may see a change late.
 * An account that is not active is read again for each message.
 */
const accounts = cached(accountLifetimeMs, (id: string) => loadAccount(id, false), isServed);

/** @returns undefined for a deleted account. Its messages are not delivered */
export async function ownerOf({
  accountId,
  messageId,
}: {
  readonly accountId: string;
  readonly messageId: string;
}): Promise<Account | undefined> {
  const account = (await accounts(accountId)) ?? (await loadAccount(accountId, true));
  if (account !== undefined && !isRemoved(account)) return account;
  log.warn('A message of a deleted account is not delivered', { accountId, messageId });
  return undefined;
}
