import type { Account } from '../account/account.ts';
import { isOfRun, mostOf, noSuchDeadLetter, selection } from '../deadLetter/deadLetters.ts';
import { loadDeadLetter, type ListedDeadLetter } from '../deadLetter/rows.ts';
import { HttpError, quote } from '../error/httpError.ts';
import { bulkBudgetMs, onEach } from '../list/pages.ts';
import type { RetryRequest } from '../publish/retryDeadLetters.ts';
import { now } from '../shared/clock.ts';
import type { Header } from '../shared/headers.ts';
import type { Answer } from '../wire/answers.ts';
import { parseFilter } from '../wire/filters.ts';
import type * as answers from '../wire/workflowAnswers.ts';
import { rerunEach, takenAtOnce, type WantedRerun } from './failure/rerunEach.ts';
import { rerunPlans } from './failure/rerunPlan.ts';
import { rerunHanging, shown } from './hanging/rerun.ts';
import type { RerunKind } from './rules/resuming.ts';

export { rerunHanging };

const mostRuns = 10_000;

type WorkflowRun = Answer<typeof answers.rerunAnswer>;

type One = (account: Account, dlqId: string, request: RetryRequest) => Promise<WorkflowRun>;
type Many = (
  account: Account,
  query: readonly Header[],
  request: RetryRequest,
) => Promise<Answer<typeof answers.rerunAnswers>>;

export const resumeRun: One = (...request) => rerun('resume', ...request);
export const restartRun: One = (...request) => rerun('restart', ...request);

/**
 * Resumes all runs that a filter selects. If a run could not be started, it keeps its dead letter, and a
 * repeated request tries it again.
 */
export const resumeRuns: Many = (...request) => rerunAll('resume', ...request);
export const restartRuns: Many = (...request) => rerunAll('restart', ...request);

async function rerun(
  kind: RerunKind,
  account: Account,
  dlqId: string,
  request: RetryRequest,
): Promise<WorkflowRun> {
  const until = now() + bulkBudgetMs;
  const plans = await rerunPlans(account, kind, request);
  const deadLetter = await loadDeadLetter(account.id, dlqId, now());
  const [outcome = 'gone'] = await rerunEach(account, [{ dlqId, deadLetter }], plans, kind, until);
  if (outcome instanceof HttpError) throw outcome;
  if (outcome === 'gone') throw noSuchDeadLetter(dlqId);
  if (outcome === 'failed') {
    throw new HttpError(
      503,
      'not_stored',
      `The run of ${quote(dlqId)} could not be started again; it is still there.`,
    );
  }
  return shown(outcome.newRunId);
}

async function rerunAll(
  kind: RerunKind,
  account: Account,
  query: readonly Header[],
  request: RetryRequest,
): Promise<Answer<typeof answers.rerunAnswers>> {
  const until = now() + bulkBudgetMs;
  const filter = parseFilter('deadRuns', query);
  const plans = await rerunPlans(account, kind, request);
  const { scope, rows, selected } = await selection(account, filter, isOfRun);
  const workflowRuns: WorkflowRun[] = [];
  const limits = { count: Math.min(mostOf(filter), mostRuns), atOnce: takenAtOnce, until };
  const wanted = (row: ListedDeadLetter): WantedRerun | undefined => {
    const deadLetter = selected(row);
    const wasNamed = filter.ids !== undefined && row.deadLetter === undefined;
    return deadLetter !== undefined || wasNamed ? { dlqId: row.id, deadLetter } : undefined;
  };
  const cursor = await onEach(scope, rows, limits, wanted, async (some) => {
    let refusal: HttpError | undefined;
    for (const outcome of await rerunEach(account, some, plans, kind, until)) {
      if (outcome instanceof HttpError) refusal = outcome;
      else if (typeof outcome === 'object') workflowRuns.push(shown(outcome.newRunId));
    }
    if (refusal === undefined) return;
    refusal.message += ` Started again before that: ${workflowRuns.length} runs.`;
    throw refusal;
  });
  return { workflowRuns, cursor: cursor ?? '' };
}
