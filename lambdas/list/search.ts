/**
 * Searches in a list by what has to be read for each of its rows: a hundred rows at a time, and not many thousands for one request.
 */
import { mostSearched, searchBudgetMs } from '../shared/bounds.ts';
import type { Ordered, Range } from '../table/shards.ts';
import { pageOf, type Page } from './pages.ts';

/** Candidates that are looked into at once. */
const candidatesAtOnce = 100;
/** Rows that are read before their candidates are looked into, however few these are. */
const rowsAtOnce = 500;

/** A row with its wanted entries, once it was looked into. */
interface SearchedRow<E> extends Ordered {
  readonly isCandidate: boolean;
  readonly entries: readonly E[];
}

/** Looks into rows, some at once, and passes all of them on, in their order. */
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
 * Takes a page of the entries that a search finds in a list.
 *
 * @param entriesOf a row's entries that match all else
 * @param find looks into some entries
 * @returns the page, and the number of rows that were looked into for it
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
