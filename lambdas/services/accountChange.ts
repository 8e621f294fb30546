import { isDeleted, isServed } from '../domain/account.ts';
import { minuteMs, now } from '../domain/clock.ts';
import { eachOf } from '../domain/lists.ts';
import { settings } from '../settings.ts';
import { loadAccount } from '../stores/accounts.ts';
import { deleteSchedule, listSchedules } from '../stores/schedules.ts';
import { deleteUrlGroup, listUrlGroups } from '../stores/urlGroups.ts';
import { parseAccountChange, tellRegion } from '../transport/accountChanges.ts';
import { letAllGo } from './hold.ts';
import { stopFiring } from './schedules.ts';

/** The function ends after five minutes. */
const budgetMs = 3 * minuteMs;
const atOnce = 10;

/**
 * Brings this region in line with an account that was changed: one that is served again gets its held messages delivered,
 * of one that was deleted all ends that does not expire by itself. Doing it twice, or for an account that was not changed,
 * does nothing more.
 *
 * @param text the notice
 * @throws when it has to be done again
 */
export async function followAccount(text: string): Promise<void> {
  const accountId = parseAccountChange(text);
  const account = await loadAccount(accountId, true);
  if (account === undefined) return;
  if (isDeleted(account)) await removeAll(accountId);
  if (!isServed(account)) return;
  const isDone = await letAllGo(accountId, now() + budgetMs);
  if (!isDone) await tellRegion(settings.region, accountId, 0);
}

/** Messages, dead letters and the log have an end of their own. */
async function removeAll(accountId: string): Promise<void> {
  await eachOf(await listSchedules(accountId), atOnce, async ({ scheduleId }) => {
    const deleted = await deleteSchedule(accountId, scheduleId);
    if (deleted !== undefined) await stopFiring(deleted);
  });
  await eachOf(await listUrlGroups(accountId), atOnce, async (group) => {
    await deleteUrlGroup(group);
  });
}
