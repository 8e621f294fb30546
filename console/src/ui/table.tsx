import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Paged } from '../api/useAsked.ts';
import { Button, classes, Copy, count, Cut, Failure, Loading, State, Visible } from './basics.tsx';
import { Checkbox } from './fields.tsx';
import { Time } from './time.tsx';

/** A column: its head, and how its cells are made. */
export interface Column<T> {
  readonly head: string;
  readonly cell?: (row: T) => ComponentChildren;
  /** A text that is cut if there is not enough room. */
  readonly text?: (row: T) => string;
  readonly to?: (row: T) => string;
  readonly address?: (row: T) => string;
  readonly hint?: (row: T) => string;
  readonly count?: (row: T) => number | undefined;
  readonly time?: (row: T) => number | undefined;
  readonly state?: (row: T) => string | undefined;
  readonly labels?: (row: T) => readonly string[] | undefined;
  readonly isNumber?: boolean;
  /** Whether the column takes the remaining width, with cut texts. Default: if it has texts or addresses. */
  readonly isWide?: boolean;
  /** Whether the column is hidden if there is not enough room. */
  readonly isExtra?: boolean;
}

function classOf<T>({ text, address = text, count, isExtra, ...of }: Column<T>): string {
  const { isNumber = count !== undefined, isWide = address !== undefined } = of;
  return classes(isNumber && 'number', isWide && 'wide', isExtra && 'extra');
}

function Cell<T>({ of, row }: { readonly of: Column<T>; readonly row: T }) {
  const { text, address, to, hint } = of;
  if (of.cell !== undefined) return <>{of.cell(row)}</>;
  if (of.count !== undefined) return <>{count(of.count(row))}</>;
  if (of.labels !== undefined) return <Labels of={of.labels(row)} />;
  if (of.time !== undefined) {
    const at = of.time(row);
    return at === undefined ? <>–</> : <Time at={at} />;
  }
  if (of.state !== undefined) {
    const state = of.state(row);
    return state === undefined ? <>–</> : <State state={state} />;
  }
  const shown = address ? <CutMiddle text={address(row)} /> : <Cut text={text?.(row) ?? ''} />;
  const linked = to ? <a href={to(row)}>{shown}</a> : shown;
  if (hint === undefined) return linked;
  return (
    <div>
      {linked}
      <span class="hint">
        <Cut text={hint(row)} />
      </span>
    </div>
  );
}

export interface TableProps<T> {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  readonly isMarked?: (row: T) => boolean;
  readonly selection?: Selection | undefined;
  readonly nameOf?: (row: T) => string;
}

interface Selection {
  readonly selected: ReadonlySet<string>;
  readonly onChange: (selected: ReadonlySet<string>) => void;
}

/** In a narrow window each row becomes a card that repeats the columns' heads. */
export function Table<T>({
  caption,
  columns,
  rows,
  keyOf,
  isMarked,
  selection,
  nameOf = keyOf,
}: TableProps<T>) {
  const keys = rows.map(keyOf);
  const isEverySelected = selection !== undefined && keys.every((key) => selection.selected.has(key));
  return (
    <div class="table-frame">
      <table>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {selection && (
              <th scope="col" class="select">
                <Checkbox
                  label="Select all that are shown"
                  isLabelHidden
                  checked={isEverySelected}
                  onInput={(isOn) => {
                    selection.onChange(new Set(isOn ? keys : []));
                  }}
                />
              </th>
            )}
            {columns.map((column) => (
              <th key={column.head} scope="col" class={classOf(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const key = keyOf(row);
            return (
              <tr key={key} class={classes(isMarked?.(row) && 'marked')}>
                {selection && (
                  <td class="select">
                    <Checkbox
                      label={`Select ${nameOf(row)}`}
                      isLabelHidden
                      checked={selection.selected.has(key)}
                      onInput={(isOn) => {
                        const selected = new Set(selection.selected);
                        if (isOn) selected.add(key);
                        else selected.delete(key);
                        selection.onChange(selected);
                      }}
                    />
                  </td>
                )}
                {columns.map((column) => (
                  <td key={column.head} data-head={column.head} class={classOf(column)}>
                    <Cell of={column} row={row} />
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

interface ListedProps<T> {
  readonly list: Paged<T>;
  readonly empty: ComponentChildren;
  readonly children: (items: readonly T[]) => ComponentChildren;
}

/** A list that is loaded in pages: its entries, or why there are none, and a button for more. */
export function Listed<T>({ list, empty, children }: ListedProps<T>) {
  const { items, error, more, isLoading, isFurther, skipped, again } = list;
  const hasItems = items !== undefined && items.length > 0;
  // A page that replaces others begins at the top.
  useEffect(() => {
    if (skipped > 0) scrollTo(0, 0);
  }, [skipped]);
  return (
    <>
      {error !== undefined && <Failure error={error} again={again} />}
      {items === undefined && error === undefined && <Loading />}
      {hasItems && isFurther && (
        <p class="hint">
          Entries {count(skipped + 1)} to {count(skipped + items.length)}. New ones are not shown.{' '}
          <Button kind="quiet" onClick={again}>
            Back to the newest
          </Button>
        </p>
      )}
      {hasItems && children(items)}
      {items?.length === 0 &&
        error === undefined &&
        (more ? <p class="hint">Nothing found so far; there is more to search.</p> : empty)}
      {more !== undefined && (
        <p class="more">
          <Button onClick={more} isBusy={isLoading}>
            Load more
          </Button>
        </p>
      )}
    </>
  );
}

/** The labels of a row. The tooltip shows long ones completely. */
function Labels({ of = [] }: { readonly of?: readonly string[] | undefined }) {
  if (of.length === 0) return null;
  return (
    <span class="labels" title={of.join(', ')}>
      {of.map((label) => (
        <bdi key={label} class="cut">
          <Visible text={label} />
        </bdi>
      ))}
    </span>
  );
}

const shortest = 16;
/** How much of an address is reserved for its end, and the most characters of an end. */
const endPart = 0.4;
const mostOfEnd = 18;

/**
 * An address. If there is not enough room, its middle is cut, so that the host and the end of the path are
 * visible. The tooltip shows all of it.
 */
export function CutMiddle({ text }: { readonly text: string }) {
  if (text.length < shortest) return <Cut text={text} />;
  const endLength = Math.min(mostOfEnd, Math.floor(text.length * endPart));
  // Does not split a surrogate pair.
  const place = text.length - endLength - (/[\udc00-\udfff]/.test(text.at(-endLength) ?? '') ? 1 : 0);
  return (
    <span class="cut-middle" title={text}>
      {/* For screen readers, which would read the two parts as two texts. */}
      <span class="visually-hidden unselected">{text}</span>
      <span class="cut" aria-hidden="true">
        {text.slice(0, place)}
      </span>
      <span aria-hidden="true">{text.slice(place)}</span>
    </span>
  );
}

/** The end of an id, which distinguishes it in a list, and a button that copies it. */
export const Id = ({ of }: { readonly of: string }) => (
  <span class="id" title={of}>
    <code>…{of.slice(-6)}</code>
    <Copy text={of} label={`Copy ${of}`} />
  </span>
);
