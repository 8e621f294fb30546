import type { Account } from '../../account/account.ts';
import { badRequest, HttpError, notFound, quote } from '../../error/httpError.ts';
import type { RetryRequest } from '../../publish/retryDeadLetters.ts';
import { timeOfId } from '../../shared/ids.ts';
import type { Answer } from '../../wire/answers.ts';
import type * as answers from '../../wire/workflowAnswers.ts';
import { rerunPlans } from '../failure/rerunPlan.ts';
import { isSameRun, type RunKey, type WhichRun } from '../rules/journal.ts';
import type { RerunKind } from '../rules/resuming.ts';
import { isRunId } from '../run.ts';
import { loadSnapshot } from '../store/journals.ts';
import { loadHanging } from './find.ts';
import { loadRunToReplace, replaceRun } from './replaceRun.ts';

/** Only for ids that the service made when the run started, because the time is read from the id. */
export const shown = (runId: string): Answer<typeof answers.rerunAnswer> => ({
  workflowRunId: runId,
  workflowCreatedAt: timeOfId(runId),
});

/**
 * Cancels a hanging run and replaces it with a new one. Can be repeated.
 *
 * @throws HttpError 400 if the run does not hang, 404, 412, 429, or as a publish does
 */
export async function rerunHanging(
  kind: RerunKind,
  account: Account,
  which: WhichRun,
  request: RetryRequest,
): Promise<Answer<typeof answers.rerunAnswer>> {
  const plans = await rerunPlans(account, kind, request);
  const key: RunKey = { accountId: account.id, runId: which.runId };
  const snapshot = isRunId(which.runId) ? await loadSnapshot(key) : undefined;
  const run = isSameRun(snapshot, which) ? await loadRunToReplace(key, snapshot.startSeq) : undefined;
  if (run === undefined) {
    throw notFound('run_not_found', `There is no run ${quote(which.runId)}.`);
  }
  if (run.replacedBy === undefined && (await loadHanging(key, run.snapshot.startSeq)) === undefined) {
    throw badRequest(
      'wrong_state',
      `The run ${quote(which.runId)} does not hang: it has ended, or something is pending, or its endpoint was called in the last minute.`,
    );
  }
  const outcome = await replaceRun(account, run, plans({ ...which, createdAt: run.snapshot.createdAt }));
  if (outcome instanceof HttpError) throw outcome;
  return shown(outcome);
}
