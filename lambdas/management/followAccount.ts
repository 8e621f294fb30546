import { isRemoved, isServed, type Account } from '../account/account.ts';
import type { AccountChange } from './accountChange.ts';
import { TransientError } from '../error/transientError.ts';
import { eachOf } from '../shared/lists.ts';
import { loadAccount } from '../account/accounts.ts';
import { deleteNamedToken } from '../account/namedTokens.ts';
import { settings } from '../aws/settings.ts';
import { deleteSchedule, listSchedules } from '../schedule/rows.ts';
import { deleteUrlGroup, listUrlGroups } from '../urlGroup/rows.ts';
import { tellRegion } from './store/accountChanges.ts';
import { removeLanes, resumeAccount } from '../lane/accountLanes.ts';
import { stopFiring } from '../schedule/firing.ts';

/** The usual replication time between regions. If replication takes longer, the notice is retried. */
const replicationSeconds = 5;

/**
 * Applies the change of an account in this region, and notifies other regions. Can be repeated; does nothing
 * for an unchanged account.
 *
 * @throws if it must be retried: something failed, a region did not answer, or the change has not arrived
 * here
 */
export async function followAccount({ accountId, others = [], version = 0 }: AccountChange): Promise<void> {
  const account = await loadAccount(accountId, true);
  if (account === undefined || account.version < version) {
    if (version === 0) return;
    throw new TransientError(
      `Version ${version} of the account ${accountId} has not arrived in this region yet.`,
    );
  }
  // A region that does not answer must not delay this one or the others.
  const told = { accountId, version: account.version };
  const outcomes = await Promise.allSettled([
    follow(account),
    ...others.map((region) => tellRegion(region, told, replicationSeconds)),
  ]);
  const failures = outcomes.flatMap((outcome): unknown[] =>
    outcome.status === 'rejected' ? [outcome.reason] : [],
  );
  if (failures.length > 0)
    throw new AggregateError(failures, 'A region does not have the account’s change yet.');
}

async function follow(account: Account): Promise<void> {
  if (isRemoved(account)) await removeAll(account);
  if (isServed(account)) await resumeAccount(account);
}

const removedAtOnce = 10;

/** Removes named tokens, schedules, URL groups and lanes. Messages, dead letters and the log expire. */
async function removeAll({ id: accountId, tokenIds = [] }: Account): Promise<void> {
  await eachOf(tokenIds, removedAtOnce, (tokenId) => deleteNamedToken(accountId, tokenId, settings.region));
  await eachOf(await listSchedules(accountId), removedAtOnce, async ({ scheduleId }) => {
    const deleted = await deleteSchedule(accountId, scheduleId);
    if (deleted !== undefined) await stopFiring(deleted);
  });
  await eachOf(await listUrlGroups(accountId), removedAtOnce, async (group) => {
    await deleteUrlGroup(group);
  });
  await removeLanes(accountId);
}
