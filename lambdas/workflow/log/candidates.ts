import type { Account } from '../../account/account.ts';
import { idRows, loadedRows, merged } from '../../list/pages.ts';
import { limitedScan } from '../../list/scans.ts';
import { loadMessages } from '../../message/list.ts';
import type { Place } from '../../table/cursor.ts';
import {
  byAge,
  byOrder,
  isBehind,
  isId,
  isNewer,
  precedes,
  type Ordered,
  type Range,
} from '../../table/shards.ts';
import type { RunState } from '../../wire/states.ts';
import { matchesRun, type CountQuery, type RunIdentity, type RunsQuery } from '../../wire/workflowFilters.ts';
import type { RunKey } from '../rules/journal.ts';
import { hasEnded, isRunId } from '../run.ts';
import { listedRun } from '../runs/follow.ts';
import { loadRow, loadSnapshot } from '../store/journals.ts';
import { listRuns, loadListedRun, runShardsOf, type ListedRun } from '../store/runList.ts';

type Candidate = ListedRun & Ordered;

/**
 * Lists the runs of one id, newest first. Their journals are in one partition, one after another, so the end
 * of each journal is read.
 */
async function* newestOfId(key: RunKey): AsyncGenerator<Candidate> {
  let snapshot = isRunId(key.runId) ? await loadSnapshot(key) : undefined;
  while (snapshot !== undefined) {
    const { startSeq } = snapshot;
    const first = await loadRow(key, startSeq);
    if (first?.record.kind !== 'start') return;
    yield { ...listedRun(key, snapshot, first.record.start), time: snapshot.createdAt, id: key.runId };
    snapshot = startSeq === 0 ? undefined : (await loadRow(key, startSeq - 1))?.snapshot;
  }
}

async function* runsOfId(key: RunKey, range: Range): AsyncGenerator<Candidate> {
  const newestFirst: Candidate[] = [];
  for await (const run of newestOfId(key)) {
    if (!isBehind(run, range)) continue;
    if (range.order === 'earliestFirst') newestFirst.push(run);
    else yield run;
  }
  yield* newestFirst.reverse();
}

async function* runsByName(
  accountId: string,
  runs: readonly RunIdentity[],
  behind: Place | undefined,
): AsyncGenerator<Candidate> {
  const nameOf = ({ runId, createdAt }: RunIdentity): string => `${runId}@${createdAt}`;
  const given = new Map(runs.map((run) => [nameOf(run), run]));
  let isPassed = behind === undefined || !given.has(behind.id);
  for (const [id, run] of given) {
    const listed = isPassed && isRunId(run.runId) ? await loadListedRun({ accountId, ...run }) : undefined;
    if (listed !== undefined) yield { ...listed, time: 0, id };
    if (id === behind?.id) isPassed = true;
  }
}

/** @returns newest first; undefined if the id is not of a message: waits have ids, too */
async function runsOfMessages(
  accountId: string,
  messageIds: readonly string[],
): Promise<readonly Candidate[] | undefined> {
  const messages = await loadMessages(accountId, messageIds);
  if (messages.size < messageIds.length) return undefined;
  const parts = [...messages.values()].flatMap(({ workflow }) => workflow ?? []);
  const once = new Map(parts.map((part) => [`${part.createdAt}/${part.runId}`, part]));
  const found = await Promise.all(
    [...once.values()].map(({ runId, createdAt }) => loadListedRun({ accountId, runId, createdAt })),
  );
  return found.flatMap((run) => run ?? []).sort(byAge);
}

export async function candidatesOf(
  account: Account,
  { runs, runId, messageIds }: RunsQuery,
  range: Range,
): Promise<AsyncIterable<Candidate> | Iterable<Candidate>> {
  const accountId = account.id;
  const { behind, order } = range;
  if (runs !== undefined) return runsByName(accountId, runs, behind);
  if (runId !== undefined) return runsOfId({ accountId, runId }, range);
  const ids = messageIds && [...messageIds].filter((id) => isId('msg', id));
  const found = ids && (await runsOfMessages(accountId, ids));
  if (found !== undefined) return found.toSorted(byOrder(order)).filter((run) => isBehind(run, range));
  return merged(
    runShardsOf(accountId).map((shard) => listRuns(shard, range)),
    precedes(order),
  );
}

export const newestRuns = ({ id }: Account) =>
  merged(
    runShardsOf(id).map((shard) => listRuns(shard, {})),
    isNewer,
  );

/** Whether a run may match, judged by its row in the list. The row shows the run's end with a short delay. */
export function mayBeWanted(query: RunsQuery, { createdAt, state, ...run }: Candidate): boolean {
  const { fromDate = 0, toDate = Infinity, states } = query;
  if (createdAt < fromDate || createdAt > toDate) return false;
  if (query.createdAt !== undefined && query.createdAt !== createdAt) return false;
  const ofRuns = [...(states ?? [])].every((one) => one.startsWith('RUN_'));
  if (states !== undefined && ofRuns && hasEnded(state) && !states.has(state)) return false;
  return matchesRun(query, run);
}

const loadedAtOnce = 10;

interface CountedRun extends Ordered {
  readonly state: RunState | undefined;
}

const ifActive = (state: RunState | undefined): RunState | undefined =>
  state === undefined || hasEnded(state) ? undefined : state;

async function* runsToCount(
  account: Account,
  query: CountQuery,
  range: Range,
  isConsistent: boolean,
): AsyncGenerator<CountedRun> {
  const shards = runShardsOf(account.id).map((shard) => listRuns(shard, range, isConsistent));
  for await (const run of merged(shards, isNewer)) {
    const { time, id } = run;
    yield { time, id, state: matchesRun(query, run) ? ifActive(run.state) : undefined };
  }
}

export function rowsToCount(
  account: Account,
  query: CountQuery,
  range: Range,
  isConsistent = false,
): AsyncIterable<CountedRun> {
  const { runIds } = query;
  return runIds === undefined
    ? limitedScan(account.id, runsToCount(account, query, range, isConsistent))
    : loadedRows(idRows(runIds.filter(isRunId), range.behind), loadedAtOnce, async (row) => ({
        ...row,
        state: ifActive((await loadSnapshot({ accountId: account.id, runId: row.id }))?.state),
      }));
}
