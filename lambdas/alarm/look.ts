import { isRemoved, isServed } from '../account/account.ts';
import { loadAccount } from '../account/accounts.ts';
import { log } from '../aws/log.ts';
import { logAndContinue } from '../aws/logAndContinue.ts';
import { settings } from '../aws/settings.ts';
import { now } from '../shared/clock.ts';
import { eachOf, listOf } from '../shared/lists.ts';
import type { Alarms } from './alarm.ts';
import { findConditions } from './find.ts';
import { afterLook } from './rules/conditions.ts';
import { isQuiet } from './rules/quietHours.ts';
import { allAlarms, deleteAlarms } from './store/rows.ts';
import { keepAndTell, withoutNotices } from './tell.ts';

/** Accounts that are checked at once. Each reads its 8 or 32 shards in parallel, and the client has a hundred sockets. */
const accountsAtOnce = 3;

/**
 * Checks all accounts of this region that have alarms. If there are none, this costs one AWS call.
 *
 * @param until Unix milliseconds; then the rest is left to the next check
 */
export async function lookForAlarms(until: number): Promise<void> {
  const all = await listOf(allAlarms());
  // Begins with a random account, so that not always the same ones are left out.
  const first = Math.floor(Math.random() * all.length);
  let left = 0;
  await eachOf([...all.slice(first), ...all.slice(0, first)], accountsAtOnce, async (alarms) => {
    // If one account fails, the others are still checked.
    if (now() < until) await logAndContinue(lookAt(alarms));
    else left += 1;
  });
  if (left > 0) log.warn('Some accounts were not checked for alarms', { accounts: left });
}

/** Checks one account. @throws if something could not be read or stored; the next check repeats it */
async function lookAt(read: Alarms): Promise<void> {
  const account = await loadAccount(read.accountId, false);
  if (account === undefined || isRemoved(account)) {
    await deleteAlarms(read.accountId);
    return;
  }
  // The account has moved: its messages are in another region.
  if (account.region !== settings.region || !isServed(account)) return;
  const alarms = await withoutNotices(account, read);
  if (alarms === undefined) return;
  const conditions = await findConditions(account, alarms.settings);
  const time = now();
  const look = { ...conditions, time, isQuiet: isQuiet(alarms.settings.quietHours, time) };
  const { open, notices } = afterLook(alarms.open, look);
  if (JSON.stringify(open) === JSON.stringify(alarms.open)) return;
  await keepAndTell(account, { ...alarms, open, notices });
}
