/** Counts the runs that a bulk cancellation would cancel. */
import type { Answer, counted } from '../wire/answers.ts';
import { matchesRun, parseCountQuery, type CountQuery } from '../wire/workflowFilters.ts';
import type { Account } from '../account/account.ts';
import type { Header } from '../shared/headers.ts';
import { hasEnded, isRunId } from './run.ts';
import type { RunState } from '../wire/states.ts';
import { isNewer, type Ordered, type Range } from '../table/shards.ts';
import { loadHead } from './store/journals.ts';
import { listRuns, runShardsOf } from './store/runList.ts';
import { limitedScan } from '../list/scans.ts';
import { countEach, idRows, loadedRows, merged, placeAt } from '../list/pages.ts';

/** Runs that are loaded at once where their ids are given. */
const loadedAtOnce = 10;

/** A row of the list; one whose id is that of no run, or that does not match, has no state. */
interface Candidate extends Ordered {
  readonly state: RunState | undefined;
}

async function* listed(account: Account, query: CountQuery, range: Range): AsyncGenerator<Candidate> {
  const shards = runShardsOf(account.id).map((shard) => listRuns(shard, range));
  for await (const run of merged(shards, isNewer)) {
    const { time, id } = run;
    yield { time, id, state: matchesRun(query, run) ? run.state : undefined };
  }
}

/**
 * Counts the runs that go on and that a filter selects. The list learns of an end a moment after it.
 *
 * @throws HttpError 400 for a malformed request
 */
export async function countRuns(account: Account, query: readonly Header[]): Promise<Answer<typeof counted>> {
  const read = parseCountQuery(query);
  const { runIds, fromDate, toDate, cursor } = read;
  const scope = `${account.id}/workflows/runs`;
  const range: Range = { fromDate, toDate, behind: await placeAt(scope, cursor) };
  const rows: AsyncIterable<Candidate> =
    runIds === undefined
      ? limitedScan(account.id, listed(account, read, range))
      : loadedRows(idRows(runIds.filter(isRunId), range.behind), loadedAtOnce, async (row) => ({
          ...row,
          state: (await loadHead({ accountId: account.id, runId: row.id }))?.state,
        }));
  return countEach(scope, rows, ({ state }) => (state === undefined || hasEnded(state) ? undefined : state));
}
