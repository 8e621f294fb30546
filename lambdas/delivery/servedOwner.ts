import { isServed, type Account } from '../account/account.ts';
import { ownerOf } from '../account/owner.ts';
import type { AttemptJob } from '../job/job.ts';
import { waitForAccount } from '../lane/acquireLanes.ts';
import type { MessageHistory } from '../message/history.ts';

/**
 * Finds the account of a message. If the account is not active, the attempt waits.
 *
 * @returns undefined if no attempt is to be made now: the account was deleted, or is not active
 */
export async function servedOwner(
  history: MessageHistory,
  job: AttemptJob,
  isAgain: boolean,
): Promise<Account | undefined> {
  const account = await ownerOf(history.message);
  if (account === undefined || isServed(account)) return account;
  await waitForAccount(history, account, job, isAgain);
  return undefined;
}
