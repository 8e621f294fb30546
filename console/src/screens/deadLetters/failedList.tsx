/**
 * A screen with failed messages or runs: groups of failures, and a list from which they can be sent again.
 */
import { useState } from 'preact/hooks';
import type * as z from 'zod/mini';
import { deadLetterCount } from '../../../../lambdas/wire/statsAnswers.ts';
import { useMayWrite } from '../../access.ts';
import { countedText, isSettled, useAsked } from '../../api/useAsked.ts';
import type { Row } from '../../lists/csv.ts';
import { ResourceList, type ResourceListProps } from '../../lists/resourceList.tsx';
import { count, Failure } from '../../ui/basics.tsx';
import { filtersOf, inWords, isFiltered, type FilterField } from '../../ui/filters.tsx';
import { FailedActs, type Failed } from './failed.tsx';
import { Groups, type Counts, type Kind } from './groups.tsx';

interface FailedListProps<Shape extends z.ZodMiniType, T> extends Omit<
  ResourceListProps<Shape, T>,
  'path' | 'keyOf' | 'valuesOf'
> {
  readonly of: Failed;
  readonly fields: readonly FilterField[];
  readonly kinds: readonly Kind[];
  readonly groupsOf: string;
  readonly valuesOf?: (
    rows: readonly T[] | undefined,
    counts: Pick<Counts, 'groups'> | undefined,
  ) => Readonly<Record<string, readonly string[]>>;
}

/**
 * The interval between counts (ms). A count reads all entries, so it is rare, and many entries are counted only
 * once.
 */
const countedEveryMs = 10_000;
const mostCountedOften = 1_000;

/** Counts failures, and groups them. @param query undefined to count nothing */
export function useFailures(path: string, query: URLSearchParams | undefined) {
  const [isLarge, setLarge] = useState(false);
  const counted = useAsked(deadLetterCount, query && { path, query }, isLarge ? undefined : countedEveryMs);
  if (counted.answer !== undefined && isLarge !== (counted.answer.count ?? 0) > mostCountedOften)
    setLarge(!isLarge);
  return counted;
}

export function FailedList<Shape extends z.ZodMiniType, T extends Row & { readonly dlqId: string }>(
  props: FailedListProps<Shape, T>,
) {
  const { of, kinds, groupsOf, valuesOf, ...list } = props;
  const { place, fields } = list;
  const query = filtersOf(place, fields);
  const isSearch = query.has('body');
  // Search results are not counted, because the user selects them individually.
  const counted = useFailures(`${of.path}/count`, isSearch ? undefined : query);
  const mayWrite = useMayWrite();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const { count: number } = counted.answer ?? { count: 0 };
  const total = countedText(counted);
  const matches = `the ${total} ${number === 1 ? 'match' : 'matches'}`;
  return (
    <ResourceList
      {...list}
      isSticky
      path={of.path}
      keyOf={({ dlqId }) => dlqId}
      selection={mayWrite ? { selected, onChange: setSelected } : undefined}
      valuesOf={(rows) => valuesOf?.(rows, counted.answer) ?? {}}
      // The groups are above the rows, so the rows are shown later, to avoid that they jump.
      isWaiting={!isSearch && !isSettled(counted)}
      actions={({ items = [], again }) => {
        // Only entries that are still visible count as selected.
        const ids = items.map(({ dlqId }) => dlqId).filter((id) => selected.has(id));
        return (
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
              again();
              counted.again();
            }}
          />
        );
      }}
      below={({ error }) => (
        <>
          {counted.error !== undefined && error === undefined && (
            <Failure error={counted.error} again={counted.again} />
          )}
          {counted.answer && (
            <Groups place={place} counts={counted.answer} kinds={kinds} total={total} noun={groupsOf} />
          )}
        </>
      )}
    />
  );
}
