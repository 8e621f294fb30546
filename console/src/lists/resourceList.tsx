/** Lists of resources that are described by their shape, columns, filters and actions. */
import type { ComponentChildren } from 'preact';
import type * as z from 'zod/mini';
import type { Readable } from '../../../lambdas/options/option.ts';
import { useMayWrite } from '../access.ts';
import type { Request } from '../api/client.ts';
import { usePages, type Paged } from '../api/useAsked.ts';
import type { Place } from '../place.ts';
import { Empty, Page } from '../ui/basics.tsx';
import { FilterBar, filtersOf, isFiltered, noMatch as exactMatch, type FilterField } from '../ui/filters.tsx';
import { Listed, Table, type Column, type TableProps } from '../ui/table.tsx';
import { Export } from './export.tsx';
import type { Row } from './csv.ts';

/** The sentence in place of an empty list, and what to do. */
type EmptyText = readonly [title: string, children?: ComponentChildren];

export interface ListTableProps<T> extends Omit<TableProps<T>, 'rows'> {
  readonly list: Paged<T>;
  /** The actions on a row, for users who may write. */
  readonly acts?: (row: T, again: () => void) => ComponentChildren;
  /** Undefined if nothing is shown in place of an empty list. */
  readonly empty?: EmptyText;
  /** The title in place of a list in which nothing matches the filters. */
  readonly noMatch?: string;
  readonly place?: Place;
  readonly fields?: readonly FilterField[];
}

/** The rows of a list that is loaded page by page. */
export function ListTable<T>(props: ListTableProps<T>) {
  const { list, acts, empty = [], noMatch, place, fields = [], ...table } = props;
  const isSearched = place !== undefined && isFiltered(place, fields);
  const [title = '', hint] = isSearched ? [noMatch, exactMatch(place, fields)] : empty;
  const actions: Column<T> = {
    head: 'Actions',
    isNumber: true,
    cell: (row) => acts?.(row, list.again),
  };
  const columns = useMayWrite() && acts ? [...table.columns, actions] : table.columns;
  return (
    <Listed list={list} empty={title !== '' && <Empty title={title}>{hint}</Empty>}>
      {(rows) => <Table {...table} columns={columns} rows={rows} />}
    </Listed>
  );
}

interface ResourceListProps<Shape extends z.ZodMiniType, T>
  extends Omit<ListTableProps<T>, 'list' | 'place'>, Pick<Request, 'api' | 'path'> {
  readonly title: string;
  readonly place: Place;
  readonly shape: Shape;
  /** The query without the filters, which replace it. */
  readonly query?: Readonly<Record<string, string>>;
  readonly rowsOf: (page: Readable<z.infer<Shape>>) => readonly T[];
  /** The interval at which the list is loaded again, in milliseconds. */
  readonly everyMs?: number;
  /** Suggestions for filters. */
  readonly valuesOf?: (rows: readonly T[] | undefined) => Readonly<Record<string, readonly string[]>>;
  /** The name of the file in which the list can be saved. */
  readonly file?: string;
  /** Buttons beside the title, for users who may write. */
  readonly actions?: (list: Paged<T>) => ComponentChildren;
  /** Whether they stay visible while the list is scrolled. */
  readonly isSticky?: boolean;
  /** Whether the list waits until what is above it is loaded. */
  readonly isWaiting?: boolean;
  /** Replaces the list, which is then not loaded. */
  readonly instead?: ComponentChildren;
  /** The content above the filters. */
  readonly children?: ComponentChildren;
}

/** A screen with a list. */
export function ResourceList<Shape extends z.ZodMiniType, T extends Row>(props: ResourceListProps<Shape, T>) {
  const { title, shape, path, api, query, rowsOf, everyMs, valuesOf, file, ...shown } = props;
  const { actions, isSticky = false, isWaiting = false, instead, children, ...table } = shown;
  const { place, fields = [] } = table;
  const filters = filtersOf(place, fields);
  for (const [name, value] of Object.entries(query ?? {})) if (!filters.has(name)) filters.set(name, value);
  const request = { path, api, query: filters };
  const list = usePages(shape, instead ? undefined : request, rowsOf, everyMs);
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
            !instead && <Export name={file} shape={shape} request={request} rowsOf={rowsOf} />
          }
        />
      )}
      {instead || <ListTable {...table} list={isWaiting ? hidden(list) : list} />}
    </Page>
  );
}

/** The list as if it were still loading. */
export const hidden = <T,>(list: Paged<T>): Paged<T> => ({ ...list, items: undefined, more: undefined });
