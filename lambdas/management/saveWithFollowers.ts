import { isRemoved, limitsOf, type Account } from '../account/account.ts';
import { settings } from '../aws/settings.ts';
import { saveAccount } from '../account/accounts.ts';
import { tellRegion } from './store/accountChanges.ts';
import { logAndContinue } from '../aws/logAndContinue.ts';
import { answerOf } from './replicas.ts';

/** Longer than an API request (29 s). By then the change has been made, or will never be. */
const laterSeconds = 60;

/**
 * Saves an account in its own region. If other regions must follow, the account's region is asked to notify
 * them, with retries. It is asked twice: before the save with a delay of a minute, in case this process dies
 * right after the save; and after the save, so that they follow at once.
 *
 * @returns false, without a change, if another request has changed the account since
 */
export async function saveWithFollowers(after: Account, before: Account): Promise<boolean> {
  const { region } = before;
  // If the parallelism is raised, waiting messages may start.
  const isRaised = limitsOf(after).max_global_parallelism > limitsOf(before).max_global_parallelism;
  const isFollowed =
    isRaised ||
    after.state !== before.state ||
    after.region !== region ||
    isRemoved(after) !== isRemoved(before);
  const notice = { accountId: after.id, others: settings.regions.filter((other) => other !== region) };
  if (isFollowed) await answerOf(region, tellRegion(region, notice, laterSeconds));
  const isSaved = await answerOf(region, saveAccount(after, before));
  // If this fails, the change is saved and the other regions follow a minute later.
  if (isSaved && isFollowed) await logAndContinue(tellRegion(region, notice, 0));
  return isSaved;
}
