import { isDeleted, isServed } from '../domain/account.ts';
import { eachOf } from '../domain/lists.ts';
import { loadAccount } from '../stores/accounts.ts';
import { deleteQueue, listQueues } from '../stores/queues.ts';
import { deleteSchedule, listSchedules } from '../stores/schedules.ts';
import { deleteUrlGroup, listUrlGroups } from '../stores/urlGroups.ts';
import { parseAccountChange } from '../transport/accountChanges.ts';
import { roomOf } from './flight.ts';
import { askForLook, letSomeGo } from './hold.ts';
import { stopFiring } from './schedules.ts';

/** How soon the line is looked at again, in seconds: where there was room, and where whoever makes some lets it go on. */
const soon = 1;
const later = 20;
const atOnce = 10;

/**
 * Brings this region in line with an account that was changed: one that is served gets delivered what waits for it, of one
 * that was deleted all ends that does not expire by itself. Doing it twice, or for an account that was not changed, does
 * nothing more.
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
  const room = await roomOf(account);
  const isEmpty = await letSomeGo(account, room);
  if (!isEmpty) await askForLook(accountId, room > 0 ? soon : later);
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
  await eachOf(await listQueues(accountId), atOnce, async ({ name }) => {
    await deleteQueue(accountId, name);
  });
}
