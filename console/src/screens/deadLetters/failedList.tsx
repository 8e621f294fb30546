/** A screen with what has failed permanently: groups of the failures, and a list in which some or all are sent again. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type * as z from 'zod/mini';
import type { Readable } from '../../../../lambdas/options/option.ts';
import { deadLetterCount } from '../../../../lambdas/wire/statsAnswers.ts';
import { useMayWrite } from '../../access.ts';
import { countedText, isSettled, useAsked, usePages } from '../../api/useAsked.ts';
import type { Row } from '../../lists/csv.ts';
import { Export } from '../../lists/export.tsx';
import { hidden, ListTable, type ListTableProps } from '../../lists/resourceList.tsx';
import { Searched, searchRows } from '../../lists/searched.tsx';
import type { Place } from '../../place.ts';
import { count, Failure, Page } from '../../ui/basics.tsx';
import { FilterBar, filtersOf, inWords, isFiltered, type FilterField } from '../../ui/filters.tsx';
import { FailedActs, type Failed } from './failed.tsx';
import { Groups, type Counts, type Kind } from './groups.tsx';

interface FailedListProps<Shape extends z.ZodMiniType, T> extends Omit<
  ListTableProps<T>,
  'list' | 'selection' | 'keyOf'
> {
  readonly of: Failed;
  readonly title: string;
  readonly place: Place;
  readonly fields: readonly FilterField[];
  readonly shape: Shape;
  readonly rowsOf: (page: Readable<z.infer<Shape>>) => readonly T[];
  /** The number of bodies that a page has searched. */
  readonly searchedIn?: (page: Readable<z.infer<Shape>>) => number | undefined;
  readonly kinds: readonly Kind[];
  /** The noun of the groups: `Dead letters`. */
  readonly groupsOf: string;
  readonly valuesOf?: (
    rows: readonly T[],
    counts: Pick<Counts, 'groups'> | undefined,
  ) => Record<string, readonly string[]>;
  /** The name of the file in which the list can be saved. */
  readonly file?: string;
  readonly children?: ComponentChildren;
}

/**
 * The interval of counts, in milliseconds. A count reads every entry that it counts, so counts are rare, and many entries are
 * counted only once.
 */
const countedEveryMs = 10_000;
const mostCountedOften = 1_000;

export function FailedList<Shape extends z.ZodMiniType, T extends Row & { readonly dlqId: string }>(
  props: FailedListProps<Shape, T>,
) {
  const { of, title, shape, rowsOf, searchedIn, kinds, groupsOf, valuesOf, file, children, ...table } = props;
  const { place, fields } = table;
  const query = filtersOf(place, fields);
  const isSearch = query.has('body');
  const request = { path: of.path, query };
  // A search reads much, so it is not repeated automatically.
  const list = usePages(
    shape,
    request,
    (page) => searchRows({ searched: searchedIn?.(page) }, rowsOf(page), isSearch),
    isSearch ? 0 : undefined,
  );
  const rows = list.items?.flatMap(({ row }) => row ?? []);
  const [isLarge, setLarge] = useState(false);
  const counted = useAsked(
    deadLetterCount,
    // Search results are not counted, because the user selects them one by one.
    isSearch ? undefined : { path: `${of.path}/count`, query },
    isLarge ? undefined : countedEveryMs,
  );
  const mayWrite = useMayWrite();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const { count: number } = counted.answer ?? { count: 0 };
  if (counted.answer !== undefined && isLarge !== (number ?? 0) > mostCountedOften) setLarge(!isLarge);
  // Entries that are gone, or hidden by a filter, are no longer selected.
  const ids = rows?.flatMap(({ dlqId }) => (selected.has(dlqId) ? dlqId : [])) ?? [];
  const total = countedText(counted);
  const matches = `the ${total} ${number === 1 ? 'match' : 'matches'}`;
  return (
    <Page
      title={title}
      isSticky
      actions={
        mayWrite && (
          <FailedActs
            of={of}
            {...(ids.length > 0
              ? { which: of.selected(count(ids.length)), ids }
              : {
                  which: isFiltered(place, fields) ? matches : `all ${total}`,
                  words: inWords(query, fields),
                })}
            query={query}
            isHidden={number === 0 && ids.length === 0}
            then={() => {
              setSelected(new Set());
              list.again();
              counted.again();
            }}
          />
        )
      }
    >
      {children}
      <FilterBar
        place={place}
        fields={fields}
        values={valuesOf?.(rows ?? [], counted.answer)}
        file={file !== undefined && <Export name={file} shape={shape} request={request} rowsOf={rowsOf} />}
      />
      {counted.error !== undefined && list.error === undefined && (
        <Failure error={counted.error} again={counted.again} />
      )}
      {counted.answer && (
        <Groups place={place} counts={counted.answer} kinds={kinds} total={total} noun={groupsOf} />
      )}
      {isSearch && (list.items ?? []).length > 0 && (
        <Searched of={list.items ?? []} hasMore={list.more !== undefined} />
      )}
      <ListTable
        {...table}
        // The groups are above the rows. The rows are hidden until the groups are loaded, so that they don't jump.
        list={isSearch || isSettled(counted) ? { ...list, items: rows } : hidden({ ...list, items: rows })}
        keyOf={({ dlqId }) => dlqId}
        selection={mayWrite ? { selected, onChange: setSelected } : undefined}
      />
    </Page>
  );
}
