/**
 * Each request reads its account, so that changes take effect at once. DynamoDB allows 3,000 reads of one row
 * in a second. Accounts that may send more requests are remembered for a second.
 */
import { allowsManyRequests, type Account } from './account.ts';
import { isAhead, isRecent, secondMs } from '../shared/clock.ts';
import { recentlyUsed } from '../shared/recentlyUsed.ts';

const rememberedMs = secondMs;

interface Known {
  account: Account | undefined;
  at: number;
}

interface KnownAccounts {
  /** @returns the account, and whether it was just read; otherwise it was read at most a second ago */
  readonly find: (id: string) => Promise<{ readonly account: Account | undefined; readonly isRead: boolean }>;
  readonly read: (id: string) => Promise<Account | undefined>;
}

/** @param load reads an account, strongly consistent */
export function createKnownAccounts(
  load: (id: string) => Promise<Account | undefined>,
  now: () => number,
): KnownAccounts {
  const all = new Map<string, Known>();

  async function read(id: string): Promise<Account | undefined> {
    // The account's age counts from the beginning of the read.
    const at = now();
    const account = await load(id);
    if (account === undefined || !allowsManyRequests(account)) {
      all.delete(id);
      return account;
    }
    const known = recentlyUsed(all, id, () => ({ account, at }));
    if (known.at <= at || isAhead(known.at, at)) Object.assign(known, { account, at });
    return account;
  }

  return {
    read,
    find: async (id) => {
      const known = all.get(id);
      if (known !== undefined && isRecent(known.at, rememberedMs, now()))
        return { account: known.account, isRead: false };
      return { account: await read(id), isRead: true };
    },
  };
}
