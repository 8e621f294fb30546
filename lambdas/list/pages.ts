import { jsonBytes, largestAnswer } from '../wire/answerSize.ts';
import { now, secondMs } from '../shared/clock.ts';
import { nextSize } from '../shared/lists.ts';
import { openCursor, sealCursor, type Order, type Place } from '../table/cursor.ts';
import type { Filter } from '../wire/filters.ts';
import type { Ordered, Range } from '../table/shards.ts';
import { masterSecret } from '../account/secrets.ts';
import { isScanRefusal } from './scans.ts';

/**
 * Merges sources with the same order. Reads one row ahead from each; the first rows in parallel.
 *
 * @param isFirst whether a row comes before another
 */
export async function* merged<T>(
  sources: readonly AsyncIterator<T>[],
  isFirst: (one: T, other: T) => boolean,
): AsyncGenerator<T> {
  const all = await Promise.all(sources.map(async (source) => ({ source, next: await source.next() })));
  for (;;) {
    let first: (typeof all)[number] | undefined;
    for (const one of all) {
      if (one.next.done === true) continue;
      if (first === undefined || first.next.done === true || isFirst(one.next.value, first.next.value)) {
        first = one;
      }
    }
    if (first === undefined || first.next.done === true) return;
    yield first.next.value;
    first.next = await first.source.next();
  }
}

export const sealed = async (scope: string, place: Place | undefined): Promise<string | undefined> =>
  place && sealCursor((await masterSecret()).current, scope, place);

/** @throws HttpError 400 for a cursor of another list */
export const placeAt = async (scope: string, cursor: string | undefined): Promise<Place | undefined> =>
  cursor === undefined ? undefined : openCursor((await masterSecret()).current, scope, cursor);

/** The name of a list in one order. A cursor is refused if the order differs. */
export const orderedScope = (scope: string, order: Order | undefined): string =>
  order === 'earliestFirst' ? `${scope}/${order}` : scope;

export async function rangeOf(scope: string, filter: Filter): Promise<Range> {
  const { fromDate, toDate, cursor, order, behind = await placeAt(scope, cursor) } = filter;
  return { fromDate, toDate, order, behind };
}

/** Makes rows from the ids in a request, in order, after the cursor's place. */
export function idRows(
  ids: readonly string[],
  behind: Place | undefined,
): readonly (Ordered & { readonly id: string })[] {
  const given = [...new Set(ids)];
  const from = behind === undefined ? 0 : given.indexOf(behind.id) + 1;
  return given.slice(from).map((id) => ({ id, time: 0 }));
}

/** Loads something for each row, `atOnce` in parallel. Yields in order. */
export async function* loadedRows<T, L>(
  rows: Iterable<T>,
  atOnce: number,
  load: (row: T) => Promise<L>,
): AsyncGenerator<L> {
  const all = [...rows];
  for (let at = 0; at < all.length; at += atOnce) {
    yield* await Promise.all(all.slice(at, at + atOnce).map(load));
  }
}

/** An entry of a list, and the place after it. */
export interface Placed<E> {
  readonly entry: E;
  readonly place: Place;
}

export interface Page<E> {
  readonly entries: readonly Placed<E>[];
  /** Where to continue; undefined at the end. */
  readonly next: Place | undefined;
  /** The number of rows that a search has read. */
  readonly searched?: number | undefined;
}

async function* byName<E>(
  entries: AsyncIterable<E>,
  nameOf: (entry: E) => string,
): AsyncGenerator<Placed<E>> {
  for await (const entry of entries) yield { entry, place: { time: 0, id: nameOf(entry) } };
}

/** How long a page with few matches is searched, so that it takes about a second. */
export const listBudgetMs = secondMs;
/** A page always reads at least this many rows, so that a busy machine does not end it early. */
export const leastRead = 300;

/** The time for a count; or for a page of runs, which are each read with their journal. */
export const countBudgetMs = 5 * secondMs;

interface PageLimits {
  readonly count: number;
  readonly budgetMs: number;
  /** How many rows are read in any case, if more than {@link leastRead}. */
  readonly least?: number;
  /** Whether the page must end for another reason. */
  readonly isReached?: () => boolean;
}

/**
 * Takes a page from a list. A row may have several wanted entries or none. If few are wanted, the page ends
 * after the time limit, with the place reached.
 *
 * @param entriesOf returns a row's wanted entries, in order
 */
export async function pageOf<T extends Ordered, E>(
  rows: AsyncIterable<T>,
  range: Range,
  limits: PageLimits,
  entriesOf: (row: T) => readonly E[],
): Promise<Page<E>> {
  const until = now() + limits.budgetMs;
  const entries: Placed<E>[] = [];
  let last: Place | undefined;
  let read = 0;
  for await (const row of rows) {
    const isOver =
      (now() > until && read >= Math.max(leastRead, limits.least ?? 0)) || limits.isReached?.() === true;
    if (last !== undefined && (entries.length >= limits.count || isOver)) return { entries, next: last };
    read += 1;
    const { time, id } = row;
    const own = entriesOf(row);
    const { behind } = range;
    const shown = behind?.time === time && behind.id === id ? (behind.shown ?? 0) : 0;
    for (const [index, entry] of own.entries()) {
      if (index < shown) continue;
      if (entries.length >= limits.count) return { entries, next: last };
      last = { time, id, shown: index + 1 < own.length ? index + 1 : undefined };
      entries.push({ entry, place: last });
    }
    last = { time, id };
  }
  return { entries, next: undefined };
}

/** Records made in parallel. */
const recordsAtOnce = 10;
/** The time for making an answer's records. The gateway times out after 29 s. */
const recordsBudgetMs = 20 * secondMs;
/** Bytes of an answer besides its records: field names and a cursor. */
const frameBytes = 1_000;

export interface ShownPage<R> {
  readonly records: readonly R[];
  /** Undefined at the end. */
  readonly cursor: string | undefined;
}

/**
 * Makes the records of entries, as many as fit into an answer, at least one.
 *
 * @param scope the list and its owner: cursors are valid only for it
 * @param next the place after the last entry; undefined at the end
 * @param mostBytes the most bytes of the records' JSON
 */
export async function show<E, R>(
  scope: string,
  entries: AsyncIterable<Placed<E>> | Iterable<Placed<E>>,
  next: Place | undefined,
  recordOf: (entry: E) => R | Promise<R>,
  mostBytes = largestAnswer,
): Promise<ShownPage<R>> {
  const until = now() + recordsBudgetMs;
  const records: R[] = [];
  let bytes = frameBytes;
  let last: Place | undefined;
  let some: Placed<E>[] = [];
  /** @returns false if not all records fit */
  const take = async (): Promise<boolean> => {
    const made = await Promise.all(
      some.map(async ({ entry, place }) => ({ record: await recordOf(entry), place })),
    );
    some = [];
    for (const { record, place } of made) {
      bytes += jsonBytes(record) + 1;
      if (last !== undefined && bytes > mostBytes) return false;
      records.push(record);
      last = place;
    }
    return true;
  };
  for await (const entry of entries) {
    if (some.length === recordsAtOnce) {
      if (!(await take())) return { records, cursor: await sealed(scope, last) };
      if (now() > until) return { records, cursor: await sealed(scope, last) };
    }
    some.push(entry);
  }
  return { records, cursor: await sealed(scope, (await take()) ? next : last) };
}

/**
 * Makes the records of a list that is sorted by name, as many as fit into an answer.
 *
 * @param entriesBehind reads entries after a name, or all
 * @throws HttpError 400 for a cursor of another list
 */
export async function showByName<E, R>(
  scope: string,
  cursor: string | undefined,
  entriesBehind: (name: string | undefined) => AsyncIterable<E>,
  nameOf: (entry: E) => string,
  recordOf: (entry: E) => R | Promise<R>,
): Promise<ShownPage<R>> {
  const behind = await placeAt(scope, cursor);
  return show(scope, byName(entriesBehind(behind?.id), nameOf), undefined, recordOf);
}

/**
 * How long a bulk operation runs, and waits for others that do the same. The gateway times out after 29 s.
 */
export const bulkBudgetMs = 20 * secondMs;

/**
 * Works through the wanted rows of a list in steps: all, or `count`, or as many as time allows. Each step is
 * finished before the next one. So if the process dies, a repetition does the rest.
 *
 * @param limits with `until`, no step begins after that
 * @param scope the list and its owner: cursors are valid only for it
 * @param entryOf returns undefined for unwanted rows
 * @param step does at most `atOnce` entries
 * @returns the cursor to continue; undefined if all are done
 */
export async function onEach<T extends Ordered, E>(
  scope: string,
  rows: AsyncIterable<T> | Iterable<T>,
  limits: { readonly count: number; readonly atOnce: number; readonly until?: number },
  entryOf: (row: T) => E | undefined,
  step: (entries: readonly E[]) => Promise<void>,
): Promise<string | undefined> {
  const { until = now() + bulkBudgetMs } = limits;
  let size = Math.ceil(limits.atOnce / 4);
  let some: E[] = [];
  let left = limits.count;
  let last: Place | undefined;
  let isBegun = false;
  try {
    for await (const row of rows) {
      if (some.length >= Math.min(size, left) || now() > until) {
        const begunAt = now();
        if (some.length > 0) await step(some);
        size = nextSize(size, now() - begunAt, limits.atOnce);
        isBegun ||= some.length > 0;
        left -= some.length;
        some = [];
        if (last !== undefined && (left <= 0 || now() > until)) return await sealed(scope, last);
      }
      const entry = entryOf(row);
      if (entry !== undefined) some.push(entry);
      last = { time: row.time, id: row.id };
    }
  } catch (error) {
    // After some steps, the account's limit of long reads is not an error: the finished steps count, and the
    // answer has a cursor.
    if (!isScanRefusal(error) || !(isBegun || some.length > 0)) throw error;
    if (some.length > 0) await step(some);
    return sealed(scope, last);
  }
  if (some.length > 0) await step(some);
  return undefined;
}

interface Counted {
  /** Undefined if nothing was found in the time: that does not mean 0. */
  readonly count: number | undefined;
  /** Whether there may be more entries after the cursor. */
  readonly atLeast?: true;
  /** With `atLeast`, how many rows were read. */
  readonly read?: number;
  /** With `atLeast`, the time of the last row that was read. */
  readonly readUntil?: number;
  readonly cursor: string | undefined;
}

/**
 * Counts the wanted rows of a list: all, or as many as time allows.
 *
 * @param scope the list and its owner: cursors are valid only for it
 * @param entryOf returns undefined for unwanted rows
 * @param note gets each counted entry
 * @param until when to stop; at least one row is read
 * @returns their number; and the cursor to continue, unless all are counted
 */
export async function countEach<T extends Ordered, E>(
  scope: string,
  rows: AsyncIterable<T>,
  entryOf: (row: T) => E | undefined,
  note: (entry: E) => void = () => undefined,
  until = now() + countBudgetMs,
): Promise<Counted> {
  let [count, read] = [0, 0];
  let last: Place | undefined;
  for await (const row of rows) {
    if (last !== undefined && now() > until) {
      const cursor = await sealed(scope, last);
      return { count: count === 0 ? undefined : count, atLeast: true, read, readUntil: last.time, cursor };
    }
    read += 1;
    const entry = entryOf(row);
    if (entry !== undefined) {
      count += 1;
      note(entry);
    }
    last = { time: row.time, id: row.id };
  }
  return { count, cursor: undefined };
}
