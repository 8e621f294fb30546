/** Lists that are described by their shape, columns, filters and actions. */
import type { ComponentChildren } from 'preact';
import type * as z from 'zod/mini';
import type { Readable } from '../../../lambdas/options/option.ts';
import { useMayWrite } from '../access.ts';
import type { Request } from '../api/client.ts';
import { usePages, type Paged } from '../api/useAsked.ts';
import type { Place } from '../place.ts';
import { count, Empty, Page } from '../ui/basics.tsx';
import { FilterBar, filtersOf, isFiltered, noMatch as exactMatch, type FilterField } from '../ui/filters.tsx';
import { Listed, Table, type Column, type TableProps } from '../ui/table.tsx';
import { Export } from './export.tsx';
import type { Row } from './csv.ts';

type EmptyText = readonly [title: string, children?: ComponentChildren];

interface ListTableProps<T> extends Omit<TableProps<T>, 'rows'> {
  readonly list: Paged<T>;
  readonly acts?: (row: T, again: () => void) => ComponentChildren;
  readonly empty?: EmptyText;
  readonly noMatch?: string;
  readonly place?: Place;
  readonly fields?: readonly FilterField[];
}

export function ListTable<T>(props: ListTableProps<T>) {
  const { list, acts, empty = [], noMatch, place, fields = [], ...table } = props;
  const isSearched = place !== undefined && isFiltered(place, fields);
  const [title = '', hint] = isSearched ? [noMatch, exactMatch(place, fields)] : empty;
  const actions: Column<T> = { head: 'Actions', isNumber: true, cell: (row) => acts?.(row, list.again) };
  const columns = useMayWrite() && acts ? [...table.columns, actions] : table.columns;
  return (
    <Listed list={list} empty={title !== '' && <Empty title={title}>{hint}</Empty>}>
      {(rows) => <Table {...table} columns={columns} rows={rows} />}
    </Listed>
  );
}

export interface ResourceListProps<Shape extends z.ZodMiniType, T>
  extends Omit<ListTableProps<T>, 'list' | 'place'>, Pick<Request, 'api' | 'path'> {
  readonly title: string;
  readonly place: Place;
  readonly shape: Shape;
  /** The default query, which filters replace. */
  readonly query?: Readonly<Record<string, string>>;
  readonly rowsOf: (page: Readable<z.infer<Shape>>) => readonly T[];
  /** The interval between reloads of the list (ms). */
  readonly everyMs?: number;
  readonly valuesOf?: (rows: readonly T[] | undefined) => Readonly<Record<string, readonly string[]>>;
  readonly file?: string;
  /** Makes a row of an exported file. Default: all fields. */
  readonly inFile?: (row: T) => Row;
  /** Buttons beside the title, for users who may write. */
  readonly actions?: (list: Paged<T>) => ComponentChildren;
  /** Whether the buttons remain visible while the list is scrolled. */
  readonly isSticky?: boolean;
  /** The number of bodies that were searched for a page, if the list has a search in bodies. */
  readonly searchedIn?: (page: Readable<z.infer<Shape>>) => number | undefined;
  /** @param page the first page */
  readonly below?: (list: Paged<T>, page: Readable<z.infer<Shape>> | undefined) => ComponentChildren;
  /** Whether the list waits for something above it to load. */
  readonly isWaiting?: boolean;
  /** Shown instead of the list, which is not loaded then. */
  readonly instead?: ComponentChildren;
  readonly children?: ComponentChildren;
}

export function ResourceList<Shape extends z.ZodMiniType, T extends Row>(props: ResourceListProps<Shape, T>) {
  const {
    title,
    shape,
    path,
    api,
    query,
    rowsOf,
    everyMs,
    valuesOf,
    file,
    inFile = (row: T): Row => row,
    ...shown
  } = props;
  const {
    actions,
    isSticky = false,
    searchedIn,
    below,
    isWaiting = false,
    instead,
    children,
    ...table
  } = shown;
  const { place, fields = [] } = table;
  const filters = filtersOf(place, fields);
  for (const [name, value] of Object.entries(query ?? {})) if (!filters.has(name)) filters.set(name, value);
  const request = { path, api, query: filters };
  const isSearch = searchedIn !== undefined && filters.has('body');
  const found = usePages(
    shape,
    instead ? undefined : request,
    (page) => searchRows({ searched: searchedIn?.(page) }, rowsOf(page), isSearch),
    // Not reloaded, because a search is expensive.
    isSearch ? 0 : everyMs,
  );
  const list = { ...found, items: found.items?.flatMap(({ row }) => (row === undefined ? [] : [row])) };
  const mayWrite = useMayWrite();
  return (
    <Page title={title} actions={mayWrite && actions?.(list)} isSticky={isSticky}>
      {children}
      {fields.length > 0 && (
        <FilterBar
          place={place}
          fields={fields}
          values={valuesOf?.(list.items)}
          file={
            file !== undefined &&
            !instead && (
              <Export
                name={file}
                shape={shape}
                request={request}
                rowsOf={(page) => rowsOf(page).map(inFile)}
              />
            )
          }
        />
      )}
      {below?.(list, found.first)}
      {isSearch && found.items && <Searched of={found.items} hasMore={list.more !== undefined} />}
      {instead || (
        <ListTable
          {...table}
          // Looks as if it were loading.
          list={isWaiting ? { ...list, items: undefined, more: undefined } : list}
        />
      )}
    </Page>
  );
}

interface SearchRow<T> {
  readonly row?: T;
  readonly searched?: number;
}

/**
 * Makes the rows of a page. If nothing was found, it still has a row, because an empty list would look as if
 * it were loading.
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
      other filters.{' '}
      {hasMore ? 'There are older ones: load more to search them.' : 'There are no older ones.'} Redacted
      bodies are not searched.
    </p>
  );
}
