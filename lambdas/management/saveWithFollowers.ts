import { limitsOf, type Account } from '../account/account.ts';
import { settings } from '../aws/settings.ts';
import { saveAccount } from '../account/accounts.ts';
import { tellRegion } from './store/accountChanges.ts';
import { logAndContinue } from '../aws/logAndContinue.ts';
import { answerOf } from './replicas.ts';

/** Longer than a request to the API takes (29 s): by then the change was made, or it never will be. */
const laterSeconds = 60;

/**
 * Saves an account in its own region. After a change that other regions must follow, its own region tells them, and tries
 * again until each of them knows: no region but the account's own has to answer now. The own region is asked twice: before
 * the save, for a minute later, so that all follow even if this process dies right after it has saved; and once more after
 * the save, so that they follow at once.
 *
 * @returns false when another request changed it meanwhile; nothing is written then
 */
export async function saveWithFollowers(after: Account, before: Account): Promise<boolean> {
  const { region } = before;
  // Messages that wait for the account may go on when its parallelism is raised.
  const isRaised = limitsOf(after).max_global_parallelism > limitsOf(before).max_global_parallelism;
  const isFollowed = isRaised || after.state !== before.state || after.region !== region;
  const notice = { accountId: after.id, others: settings.regions.filter((other) => other !== region) };
  if (isFollowed) await answerOf(region, tellRegion(region, notice, laterSeconds));
  const isSaved = await answerOf(region, saveAccount(after, before));
  // Should this fail, the change is made all the same, and the others follow a minute later.
  if (isSaved && isFollowed) await logAndContinue(tellRegion(region, notice, 0));
  return isSaved;
}
