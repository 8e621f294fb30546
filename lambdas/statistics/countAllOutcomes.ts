import { isRemoved } from '../account/account.ts';
import { now, secondMs } from '../shared/clock.ts';
import { eachOf } from '../shared/lists.ts';
import { log } from '../aws/log.ts';
import { settings } from '../aws/settings.ts';
import { accountsOf } from '../account/accounts.ts';
import type { Sharded } from '../table/shards.ts';
import { logAndContinue } from '../aws/logAndContinue.ts';
import { saveOpenMessages } from '../waiting/save.ts';
import { countOutcomes, placesIn, wholeCount, type CountingPart } from './countOutcomes.ts';

/** Each account's 8 or 32 shards are read in parallel, and the client has a hundred sockets. */
const accountsAtOnce = 3;
/** How long one account's log is read before the next account's. */
const turnMs = 10 * secondMs;
/** How long messages are read to save them. On one machine, requests that count wait for this. */
const savingTurnMs = 3 * secondMs;

/**
 * Counts the outcomes of all accounts of this region before their records expire, and saves which messages
 * wait. Repeated or concurrent calls count nothing twice.
 *
 * @param until Unix milliseconds; the rest is left to the next call
 * @param part the shards of each account to count
 */
export async function countAllOutcomes(until: number, part: CountingPart = wholeCount): Promise<void> {
  let left: Sharded[] = [];
  for await (const account of accountsOf(settings.region, settings.region, undefined)) {
    const { id, shards } = account;
    if (!isRemoved(account) && placesIn(account, part).length > 0) left.push({ id, shards });
  }
  while (left.length > 0 && now() < until) {
    const behind: Sharded[] = [];
    await eachOf(left, accountsAtOnce, async (account) => {
      // If one account fails, the others are still counted.
      const counted = now() < until ? await logAndContinue(countOutcomes(account, turnMs, part)) : undefined;
      // Only the first part saves the waiting messages.
      const isSaved =
        part.part > 0 ||
        now() >= until ||
        (await logAndContinue(saveOpenMessages(account, now() + savingTurnMs)));
      if (now() >= until || counted?.countedUntil !== undefined || isSaved === false) behind.push(account);
    });
    left = behind;
  }
  if (left.length > 0) log.warn('Some outcomes are left for the next count', { accounts: left.length });
}
