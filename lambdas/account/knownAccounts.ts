/**
 * Each request reads its account, so changes take effect at once. Accounts that may send more requests in a second than
 * DynamoDB allows reads of one row (3,000) are remembered for a second.
 */
import { allowsManyRequests, type Account } from './account.ts';
import { isAhead, isRecent, secondMs } from '../shared/clock.ts';
import { recentlyUsed } from '../shared/recentlyUsed.ts';

const rememberedMs = secondMs;

interface Known {
  account: Account | undefined;
  /** Unix milliseconds. */
  at: number;
}

interface KnownAccounts {
  /** @returns the account, and whether it was just read; otherwise it is at most a second old */
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
    // The time counts from the start of the read.
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
