import type { Account } from '../account/account.ts';
import { countBudgetMs, countEach, listBudgetMs, orderedScope, placeAt, sealed } from '../list/pages.ts';
import { limitedScan, rowsWithoutSlot } from '../list/scans.ts';
import { now } from '../shared/clock.ts';
import type { Header } from '../shared/headers.ts';
import type { Ordered, Range } from '../table/shards.ts';
import type { Answer, counted } from '../wire/answers.ts';
import { jsonBytes, largestAnswer } from '../wire/answerSize.ts';
import { longestPage } from '../wire/filters.ts';
import type * as answers from '../wire/workflowAnswers.ts';
import { parseCountQuery, parseRunsQuery, type CountQuery, type RunsQuery } from '../wire/workflowFilters.ts';
import { candidatesOf, mayBeWanted, rowsToCount } from './log/candidates.ts';
import { findHangingRuns, type HangingRuns } from './hanging/find.ts';
import { loadRunLog, waitsOf, type ShownRun, type ShownStep } from './log/runLog.ts';
import { loadRunJournal } from './runs/loadRun.ts';

function isWanted({ states, messageIds }: RunsQuery, run: ShownRun): boolean {
  const steps = run.steps.flatMap((group): readonly ShownStep[] => group.steps);
  const ofState = [run.workflowState, ...waitsOf(run, steps), ...steps.map(({ state }) => state)];
  const ids = [run.failureFunction?.messageId, ...steps.map(({ messageId }) => messageId)];
  return (
    (states === undefined || ofState.some((state) => [...states].some((one) => one === state))) &&
    (messageIds === undefined || ids.some((id) => id !== undefined && messageIds.has(id)))
  );
}

/** The rows that each run of a page counts as, so that a request for one page needs no slot. */
const rowsOfRun = rowsWithoutSlot / longestPage;

/** Bytes of an answer besides its runs: field names and cursor. */
const frameBytes = 1_000;
const mostBytes = largestAnswer - frameBytes;

/**
 * Makes a page of the log of runs, with at least one run. Runs are read one by one, because a large run fills
 * the memory.
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
  let last: Range['behind'];
  const pageUpTo = async (place: Range['behind']) => ({ cursor: (await sealed(scope, place)) ?? '', runs });

  const candidates = limitedScan(account.id, await candidatesOf(account, read, range), rowsOfRun);
  for await (const candidate of candidates) {
    if (last !== undefined && (runs.length >= count || now() > until)) return pageUpTo(last);
    if (mayBeWanted(read, candidate)) {
      const journal = await loadRunJournal(candidate, candidate.startSeq);
      // When this has passed, bodies may be deleted although records remain.
      const isKept = journal !== undefined && journal.snapshot.keptUntil > now();
      const run = isKept
        ? await loadRunLog(journal, read.runId !== undefined, trimBody, mostBytes)
        : undefined;
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

export { newestRuns } from './log/candidates.ts';

export const hangingRuns = (account: Account): Promise<HangingRuns> =>
  findHangingRuns(account, now() + listBudgetMs);

/**
 * Counts runs. May include runs that have just ended.
 *
 * @throws HttpError 400 for a malformed request
 */
export async function countRuns(account: Account, query: readonly Header[]): Promise<Answer<typeof counted>> {
  const read = parseCountQuery(query);
  const { fromDate, toDate, cursor } = read;
  const scope = `${account.id}/workflows/runs`;
  const range: Range = { fromDate, toDate, behind: await placeAt(scope, cursor) };
  const rows = rowsToCount(account, read, range);
  return countEach(scope, rows, ({ state }) => state);
}

/**
 * Selects active runs for a bulk operation. Each is identified by its id and its start, because an id may be
 * used again.
 */
export const activeRuns = (account: Account, query: CountQuery & Range) => ({
  rows: rowsToCount(account, query, query, true),
  selected: ({ state }: { readonly state: unknown }) => state,
  nameOf: ({ id, time }: Ordered): string => `${id}@${time}`,
});
