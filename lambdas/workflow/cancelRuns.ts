import type { Answer } from '../wire/answers.ts';
import type * as answers from '../wire/workflowAnswers.ts';
import {
  matchesRun,
  parseCancelQuery,
  runOf,
  type CancelQuery,
  type RunIdentity,
} from '../wire/workflowFilters.ts';
import type { Account } from '../account/account.ts';
import { now, secondMs } from '../shared/clock.ts';
import type { Header } from '../shared/headers.ts';
import { HttpError } from '../error/httpError.ts';
import { eachOf } from '../shared/lists.ts';
import { hasEnded, isRunId } from './run.ts';
import { isNewer } from '../table/shards.ts';
import { loadSnapshot } from './store/journals.ts';
import { listActiveRuns, runShardsOf } from './store/runList.ts';
import { merged } from '../list/pages.ts';
import { endRun } from './steps/end.ts';
import { refuseWhenBusy } from './refusedRequests.ts';

const atOnce = 10;

/**
 * No more runs are cancelled after this time. The gateway times out after 29 s, and the last step needs some
 * seconds.
 */
const budgetMs = 15 * secondMs;

async function* selected(account: Account, query: CancelQuery, until: number): AsyncGenerator<RunIdentity> {
  const { runIds, fromDate, toDate } = query;
  if (runIds === undefined) {
    const shards = runShardsOf(account.id).map((shard) => listActiveRuns(shard, { fromDate, toDate }, until));
    for await (const run of merged(shards, isNewer)) if (matchesRun(query, run)) yield run;
    return;
  }
  for (const runId of new Set(runIds.filter(isRunId))) {
    const snapshot = await loadSnapshot({ accountId: account.id, runId });
    if (snapshot !== undefined && !hasEnded(snapshot.state)) yield { runId, createdAt: snapshot.createdAt };
  }
}

/** @returns how many of the runs were still active */
async function cancelEach(account: Account, runs: readonly RunIdentity[]): Promise<number> {
  let cancelled = 0;
  await eachOf(runs, atOnce, async (run) => {
    if (await refuseWhenBusy(() => endRun(account, run, { state: 'RUN_CANCELED' }))) cancelled += 1;
  });
  return cancelled;
}

/** @returns how many of the runs were still active */
export const cancelNamed = (account: Account, names: readonly string[]): Promise<number> =>
  cancelEach(account, names.map(runOf));

/**
 * Cancels the selected runs: all, or `count`, or as many as the time allows. Callers repeat the request until
 * its answer is 0.
 *
 * @throws HttpError 400 for a malformed request; 503 if no run was found in time, because the answer 0 would
 * mean that no run is left
 */
export async function cancelRuns(
  account: Account,
  query: readonly Header[],
  body: Uint8Array,
): Promise<Answer<typeof answers.cancelledRuns>> {
  const read = parseCancelQuery(query, body);
  const most = read.runIds === undefined ? (read.count ?? Infinity) : Infinity;
  const until = now() + budgetMs;
  let cancelled = 0;
  let some: RunIdentity[] = [];
  for await (const run of selected(account, read, until)) {
    some.push(run);
    if (some.length < Math.min(atOnce, most - cancelled) && now() <= until) continue;
    cancelled += await cancelEach(account, some);
    some = [];
    if (cancelled >= most || now() > until) break;
  }
  cancelled += await cancelEach(account, some);
  if (cancelled === 0 && now() > until) {
    throw new HttpError(
      503,
      'time_over',
      'No run was found in the time; narrow the request with fromDate and toDate, or repeat it.',
    );
  }
  return { cancelled };
}
