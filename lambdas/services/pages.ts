import { now } from '../domain/clock.ts';
import { openCursor, sealCursor, type Place } from '../domain/cursor.ts';
import type { Filter } from '../domain/filters.ts';
import type { Ordered, Range } from '../stores/shards.ts';
import { masterSecret } from '../stores/secrets.ts';

/** Compares rows the way lists show them: newest first, and at one time the larger id first. */
export const isNewer = (one: Ordered, other: Ordered): boolean =>
  one.time !== other.time ? one.time > other.time : one.id > other.id;

/**
 * Several ordered sources as one. Each is read ahead by one row, all of them at once in the beginning.
 *
 * @param isFirst how they are ordered
 */
export async function* merged<T>(
  sources: readonly AsyncIterator<T>[],
  isFirst: (one: T, other: T) => boolean,
): AsyncGenerator<T> {
  const heads = await Promise.all(sources.map(async (source) => ({ source, next: await source.next() })));
  for (;;) {
    let first: (typeof heads)[number] | undefined;
    for (const head of heads) {
      if (head.next.done === true) continue;
      if (first === undefined || first.next.done === true || isFirst(head.next.value, first.next.value)) {
        first = head;
      }
    }
    if (first === undefined || first.next.done === true) return;
    yield first.next.value;
    first.next = await first.source.next();
  }
}

/** Where a list begins and ends: what its filter and its cursor say. */
export async function rangeOf(scope: string, filter: Filter): Promise<Range> {
  const { fromDate, toDate, cursor } = filter;
  const behind = cursor === undefined ? undefined : openCursor((await masterSecret()).current, scope, cursor);
  return { fromDate, toDate, behind };
}

export interface Page<E> {
  readonly entries: readonly E[];
  /** Absent at the end of the list. */
  readonly cursor: string | undefined;
}

/**
 * Takes a page from a list. A row may have several entries, or none that is wanted; where few are, it goes on for a
 * bounded time and then says where it stopped.
 *
 * @param scope whose list it is, and of what
 * @param entriesOf a row's wanted entries, newest first
 */
export async function pageOf<T extends Ordered, E>(
  scope: string,
  rows: AsyncIterable<T>,
  range: Range,
  limits: { readonly count: number; readonly budgetMs: number },
  entriesOf: (row: T) => readonly E[],
): Promise<Page<E>> {
  const until = now() + limits.budgetMs;
  const entries: E[] = [];
  let last: Place | undefined;
  for await (const row of rows) {
    const isFull = entries.length >= limits.count;
    if (last !== undefined && (isFull || now() > until)) {
      return { entries, cursor: sealCursor((await masterSecret()).current, scope, last) };
    }
    const own = entriesOf(row);
    const { behind } = range;
    const shown = behind?.time === row.time && behind.id === row.id ? (behind.shown ?? 0) : 0;
    const taken = own.slice(shown, shown + limits.count - entries.length);
    entries.push(...taken);
    const isWhole = shown + taken.length >= own.length;
    last = { time: row.time, id: row.id, shown: isWhole ? undefined : shown + taken.length };
    if (!isWhole) return { entries, cursor: sealCursor((await masterSecret()).current, scope, last) };
  }
  return { entries, cursor: undefined };
}
