import { isRemoved } from '../account/account.ts';
import { accountsOf } from '../account/accounts.ts';
import { logAndContinue } from '../aws/logAndContinue.ts';
import { settings } from '../aws/settings.ts';
import { dayMs, isAhead, now } from '../shared/clock.ts';
import { saveWithFollowers } from './saveWithFollowers.ts';

const restorableMs = 7 * dayMs;

/**
 * Tells all regions to remove the data of this region's accounts that were deleted a week ago. Can be
 * repeated.
 */
export async function endDeletions(): Promise<void> {
  for await (const account of accountsOf(settings.region, settings.region, undefined)) {
    const { deletedAt, version } = account;
    if (deletedAt === undefined || isRemoved(account)) continue;
    const time = now();
    const isOver = time - deletedAt >= restorableMs;
    // The clock was ahead when the account was deleted, so the week begins now.
    if (!isOver && !isAhead(deletedAt, time)) continue;
    const change = isOver ? { stateBefore: undefined } : { deletedAt: time };
    await logAndContinue(saveWithFollowers({ ...account, ...change, version: version + 1 }, account));
  }
}
