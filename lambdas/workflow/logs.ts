/** The log of runs. */
import { jsonBytes, largestAnswer } from '../wire/answerSize.ts';
import type { Answer, counted } from '../wire/answers.ts';
import type { RunState } from '../wire/states.ts';
import type * as answers from '../wire/workflowAnswers.ts';
import { longestPage } from '../wire/filters.ts';
import {
  matchesRun,
  parseRunsQuery,
  parseCountQuery,
  type CountQuery,
  type RunsQuery,
  type RunIdentity,
} from '../wire/workflowFilters.ts';
import type { Account } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import type { Place } from '../table/cursor.ts';
import type { Header } from '../shared/headers.ts';
import { hasEnded, isRunId } from './run.ts';
import { loadMessages } from '../message/list.ts';
import {
  isNewer,
  byAge,
  byOrder,
  isBehind,
  isId,
  precedes,
  type Ordered,
  type Range,
} from '../table/shards.ts';
import { loadSnapshot, loadRow } from './store/journals.ts';
import { listRuns as listStored, loadListedRun, runShardsOf, type ListedRun } from './store/runList.ts';
import {
  countEach,
  idRows,
  loadedRows,
  countBudgetMs,
  merged,
  orderedScope,
  placeAt,
  sealed,
} from '../list/pages.ts';
import { limitedScan, rowsWithoutSlot } from '../list/scans.ts';
import { loadRunLog, type ShownRun } from './log/runLog.ts';
import { loadRunJournal } from './runs/loadRun.ts';
import type { RunKey } from './rules/journal.ts';

/** A run that may be shown, with its place in the list. */
type Candidate = ListedRun & Ordered;

/** Finds the runs of one id, newest first. Each ends where the next begins, so they are found without reading what is between. */
async function* newestOfId(key: RunKey): AsyncGenerator<Candidate> {
  let snapshot = isRunId(key.runId) ? await loadSnapshot(key) : undefined;
  while (snapshot !== undefined) {
    const { startSeq, createdAt, state } = snapshot;
    const first = await loadRow(key, startSeq);
    if (first?.record.kind !== 'start') return;
    const { url, settings, callerIp } = first.record.start;
    const { labels, flowControl } = settings;
    const ordered = { time: createdAt, id: key.runId };
    const facts = { url, labels, callerIp, flowControlKey: flowControl?.key };
    yield { ...key, createdAt, startSeq, state, ...facts, ...ordered };
    snapshot = startSeq === 0 ? undefined : (await loadRow(key, startSeq - 1))?.snapshot;
  }
}

/** Finds the runs of one id in a range, in its order. */
async function* runsOfId(key: RunKey, range: Range): AsyncGenerator<Candidate> {
  const newestFirst: Candidate[] = [];
  for await (const run of newestOfId(key)) {
    if (!isBehind(run, range)) continue;
    if (range.order === 'earliestFirst') newestFirst.push(run);
    else yield run;
  }
  yield* newestFirst.reverse();
}

/** Reads the runs that a request names, in its order. */
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

/**
 * Finds the runs of messages by the messages themselves.
 *
 * @returns newest first; undefined where a message is not there: a wait has none, although it has an id
 */
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

/** Finds the runs among which the wanted ones are, in the order of the answer. */
async function candidatesOf(
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
    runShardsOf(accountId).map((shard) => listStored(shard, range)),
    precedes(order),
  );
}

/** Tells whether a run may be wanted, as far as the list knows it. The list learns of an end a moment after it. */
function mayBeWanted(query: RunsQuery, { createdAt, state, ...run }: Candidate): boolean {
  const { fromDate = 0, toDate = Infinity, states } = query;
  if (createdAt < fromDate || createdAt > toDate) return false;
  if (query.createdAt !== undefined && query.createdAt !== createdAt) return false;
  const ofRuns = [...(states ?? [])].every((one) => one.startsWith('RUN_'));
  if (states !== undefined && ofRuns && hasEnded(state) && !states.has(state)) return false;
  return matchesRun(query, run);
}

/** Tells whether a run is wanted, by all that is shown of it. */
function isWanted({ states, messageIds }: RunsQuery, run: ShownRun): boolean {
  const steps = run.steps.flatMap((group): readonly { state: string; messageId: string }[] => group.steps);
  const ofState = [run.workflowState, ...steps.map(({ state }) => state)];
  const ids = [run.failureFunction?.messageId, ...steps.map(({ messageId }) => messageId)];
  return (
    (states === undefined || ofState.some((state) => [...states].some((one) => one === state))) &&
    (messageIds === undefined || ids.some((id) => id !== undefined && messageIds.has(id)))
  );
}

/** A run that is shown is read with its journal and its messages: a page of runs is as many rows as need no slot. */
const rowsOfRun = rowsWithoutSlot / longestPage;

/** Bytes of an answer besides its runs: the names of its fields, and a cursor. */
const frameBytes = 1_000;
const mostBytes = largestAnswer - frameBytes;

/**
 * Makes a page of the log of runs. Each run is read by itself, because a large one fills the memory: so many as the time and the
 * answer have room for, but at least one.
 *
 * @throws HttpError 400 for a malformed request
 */
export async function listRuns(
  account: Account,
  query: readonly Header[],
): Promise<Answer<typeof answers.runPage>> {
  const read = parseRunsQuery(query);
  const { count, cursor, fromDate, toDate, order, trimBody = Infinity } = read;
  const scope = orderedScope(`${account.id}/workflows/logs`, order);
  const range: Range = { fromDate, toDate, order, behind: await placeAt(scope, cursor) };
  const until = now() + countBudgetMs;
  const runs: ShownRun[] = [];
  let bytes = 0;
  let last: Place | undefined;
  const pageUpTo = async (place: Place | undefined) => ({ cursor: (await sealed(scope, place)) ?? '', runs });

  const candidates = limitedScan(account.id, await candidatesOf(account, read, range), rowsOfRun);
  for await (const candidate of candidates) {
    if (last !== undefined && (runs.length >= count || now() > until)) return pageUpTo(last);
    if (mayBeWanted(read, candidate)) {
      const journal = await loadRunJournal(candidate, candidate.startSeq);
      // Behind that moment its bodies may be gone, and its records may be left.
      const isKept = journal !== undefined && journal.snapshot.keptUntil > now();
      const run = isKept ? await loadRunLog(journal, trimBody, mostBytes) : undefined;
      if (run !== undefined && isWanted(read, run)) {
        bytes += jsonBytes(run) + 1;
        if (runs.length > 0 && bytes > mostBytes) return pageUpTo(last);
        runs.push(run);
      }
    }
    last = { time: candidate.time, id: candidate.id };
  }
  return pageUpTo(undefined);
}

/** Runs that are loaded at once where their ids are given. */
const loadedAtOnce = 10;

/** A row of the list; one whose id is that of no run, or that does not match, has no state. */
interface CountedRun extends Ordered {
  readonly state: RunState | undefined;
}

async function* runsToCount(account: Account, query: CountQuery, range: Range): AsyncGenerator<CountedRun> {
  const shards = runShardsOf(account.id).map((shard) => listStored(shard, range));
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
  const rows: AsyncIterable<CountedRun> =
    runIds === undefined
      ? limitedScan(account.id, runsToCount(account, read, range))
      : loadedRows(idRows(runIds.filter(isRunId), range.behind), loadedAtOnce, async (row) => ({
          ...row,
          state: (await loadSnapshot({ accountId: account.id, runId: row.id }))?.state,
        }));
  return countEach(scope, rows, ({ state }) => (state === undefined || hasEnded(state) ? undefined : state));
}
