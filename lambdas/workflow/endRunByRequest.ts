import type { Account } from '../account/account.ts';
import { checkBodySize } from '../message/bodies.ts';
import { notFound, quote } from '../error/httpError.ts';
import { endRun, followEndOrLeave, followUpEnd, type RunEnd } from './steps/end.ts';
import { loadSnapshot } from './store/journals.ts';
import { isActive, isSameRun, type RunKey, type WhichRun } from './rules/journal.ts';

/**
 * Ends a run for its endpoint or a user. An endpoint may repeat its request, and gets the same answer. A user
 * who cancels a run that ended in another way gets 404.
 */
export async function endRunByRequest(
  account: Account,
  { cancel, body, ...which }: WhichRun & { readonly cancel: boolean; readonly body: Uint8Array },
): Promise<void> {
  checkBodySize(account, body);
  const end: RunEnd = cancel ? { state: 'RUN_CANCELED' } : { state: 'RUN_SUCCESS', response: body };
  if (await endRun(account, which, end)) return;
  const key: RunKey = { accountId: account.id, runId: which.runId };
  const snapshot = await loadSnapshot(key);
  const found = isSameRun(snapshot, which) ? snapshot : undefined;
  if (cancel && found?.state !== 'RUN_CANCELED' && !isActive(found)) {
    throw notFound('run_not_found', `There is no active run ${quote(which.runId)}.`);
  }
  if (found === undefined) return;
  // The process that ended the run may have died before it did the work that follows.
  await followUpEnd(account, { ...which, startSeq: found.startSeq }, followEndOrLeave);
}
