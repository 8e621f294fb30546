/**
 * Searches a list by data that must be read for each row: a hundred rows at a time, with a limit for each
 * request.
 */
import { mostSearched, searchBudgetMs } from '../shared/bounds.ts';
import type { Ordered, Range } from '../table/shards.ts';
import { pageOf, type Page } from './pages.ts';

const candidatesAtOnce = 100;
/** How many rows are read before the candidates among them are searched, even if these are few. */
const rowsAtOnce = 500;

interface SearchedRow<E> extends Ordered {
  readonly isCandidate: boolean;
  readonly entries: readonly E[];
}

/** Searches rows, some in parallel, and passes all on in order. */
async function* searchedRows<T extends Ordered, E>(
  rows: AsyncIterable<T>,
  entriesOf: (row: T) => readonly E[],
  find: (entries: readonly E[]) => Promise<ReadonlySet<E>>,
): AsyncGenerator<SearchedRow<E>> {
  let some: SearchedRow<E>[] = [];
  let candidates = 0;
  const lookInto = async (): Promise<readonly SearchedRow<E>[]> => {
    const found = await find(some.flatMap(({ entries }) => entries));
    const rowsOfFound = some.map((row) => ({
      ...row,
      entries: row.entries.filter((entry) => found.has(entry)),
    }));
    some = [];
    candidates = 0;
    return rowsOfFound;
  };
  for await (const row of rows) {
    const entries = entriesOf(row);
    const isCandidate = entries.length > 0;
    some.push({ time: row.time, id: row.id, isCandidate, entries });
    candidates += isCandidate ? 1 : 0;
    if (candidates >= candidatesAtOnce || some.length >= rowsAtOnce) yield* await lookInto();
  }
  yield* await lookInto();
}

/**
 * Takes a page of a search's results.
 *
 * @param entriesOf a row's entries that match everything except the search
 * @param find searches some entries
 * @returns the page, and how many rows were searched
 */
export async function searchedPage<T extends Ordered, E>(
  rows: AsyncIterable<T>,
  range: Range,
  count: number,
  entriesOf: (row: T) => readonly E[],
  find: (entries: readonly E[]) => Promise<ReadonlySet<E>>,
): Promise<Page<E>> {
  let searched = 0;
  const limits = { count, budgetMs: searchBudgetMs, isReached: () => searched >= mostSearched };
  const page = await pageOf(searchedRows(rows, entriesOf, find), range, limits, (row) => {
    searched += row.isCandidate ? 1 : 0;
    return row.entries;
  });
  return { ...page, searched };
}
