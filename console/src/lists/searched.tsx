/** Lists of search results by body: how far the search got. */
import { count } from '../ui/basics.tsx';

/** A row that was found, or the number of rows that a page has searched. */
interface SearchRow<T> {
  readonly row?: T;
  readonly searched?: number;
}

/**
 * Makes the rows of a page. A page without results has a row too, because an empty list would look as if it were still loading.
 */
export function searchRows<T>(
  { searched = 0 }: { readonly searched?: number | undefined },
  found: readonly T[],
  isSearch = true,
): readonly SearchRow<T>[] {
  const rows: readonly SearchRow<T>[] = found.map((row) => ({ row }));
  return isSearch ? [...rows, { searched }] : rows;
}

export function Searched({
  of,
  hasMore,
}: {
  readonly of: readonly SearchRow<unknown>[];
  readonly hasMore: boolean;
}) {
  const searched = of.reduce((sum, one) => sum + (one.searched ?? 0), 0);
  const found = of.filter(({ row }) => row !== undefined).length;
  return (
    <p class="hint" role="status">
      {count(found)} found in the {count(searched)} newest {searched === 1 ? 'body' : 'bodies'} within the
      other filters. {hasMore ? 'There are older ones: load more to search them.' : 'That is all.'} Redacted
      bodies are not searched.
    </p>
  );
}
