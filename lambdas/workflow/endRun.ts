import type { Account } from '../account/account.ts';
import { checkBodySize } from '../message/bodies.ts';
import { notFound, quote } from '../error/httpError.ts';
import { endingOf } from './run.ts';
import { endRun, followEndOrLeave, followUpEnd, type RunEnd } from './steps/endRun.ts';
import { loadSnapshot } from './store/journals.ts';
import { isSameRun, type RunKey, type WhichRun } from './rules/journal.ts';

/** A repeated request gets the same answer. */
export async function endRunByRequest(
  account: Account,
  { cancel, body, ...which }: WhichRun & { readonly cancel: boolean; readonly body: Uint8Array },
): Promise<void> {
  checkBodySize(account, body);
  const end: RunEnd = cancel ? { state: 'RUN_CANCELED' } : { state: 'RUN_SUCCESS', response: body };
  if (await endRun(account, which, end)) return;
  const key: RunKey = { accountId: account.id, runId: which.runId };
  const snapshot = await loadSnapshot(key);
  const isIt = isSameRun(snapshot, which);
  const ending = endingOf(isIt ? snapshot.state : undefined, cancel);
  if ('status' in ending && ending.status === 404) {
    throw notFound('run_not_found', `There is no active run ${quote(which.runId)}.`);
  }
  if (!isIt) return;
  // The process that ended the run may have died before it reported the end.
  await followUpEnd(account, { ...which, startSeq: snapshot.startSeq }, followEndOrLeave);
}
