import { jsonBytes, largestAnswer } from '../wire/answerSize.ts';
import { now, secondMs } from '../shared/clock.ts';
import { openCursor, sealCursor, type Order, type Place } from '../table/cursor.ts';
import type { Filter } from '../wire/filters.ts';
import type { Ordered, Range } from '../table/shards.ts';
import { masterSecret } from '../account/secrets.ts';
import { isScanRefusal } from './scans.ts';

/**
 * Merges sources that have the same order into one. Each source is read ahead by one row; the first rows are read at once.
 *
 * @param isFirst tells whether one row comes before another
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

/** Makes the cursor of a place; undefined for none. */
export const sealed = async (scope: string, place: Place | undefined): Promise<string | undefined> =>
  place && sealCursor((await masterSecret()).current, scope, place);

/** @throws HttpError 400 for a cursor that was not handed out for this list */
export const placeAt = async (scope: string, cursor: string | undefined): Promise<Place | undefined> =>
  cursor === undefined ? undefined : openCursor((await masterSecret()).current, scope, cursor);

/** Names a list in one order. A cursor holds the order that it was handed out for: with another, it is refused. */
export const orderedScope = (scope: string, order: Order | undefined): string =>
  order === 'earliestFirst' ? `${scope}/${order}` : scope;

/** Finds the range of a list from its filter and its cursor. */
export async function rangeOf(scope: string, filter: Filter): Promise<Range> {
  const { fromDate, toDate, cursor, order } = filter;
  return { fromDate, toDate, order, behind: await placeAt(scope, cursor) };
}

/** Makes rows of the ids that a request gives, in their order, from behind the cursor's place on. */
export function idRows(
  ids: readonly string[],
  behind: Place | undefined,
): readonly (Ordered & { readonly id: string })[] {
  const given = [...new Set(ids)];
  const from = behind === undefined ? 0 : given.indexOf(behind.id) + 1;
  return given.slice(from).map((id) => ({ id, time: 0 }));
}

/** Loads something for each row, `atOnce` rows at a time, in the order of the rows. */
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

/** An entry of a list, with the place right behind it. */
export interface Placed<E> {
  readonly entry: E;
  readonly place: Place;
}

export interface Page<E> {
  readonly entries: readonly Placed<E>[];
  /** The place to go on from; absent at the end of the list. */
  readonly next: Place | undefined;
  /** Rows that were looked into, where the list was searched. */
  readonly searched?: number | undefined;
}

/** Adds the places to entries that are ordered by name. */
async function* byName<E>(
  entries: AsyncIterable<E>,
  nameOf: (entry: E) => string,
): AsyncGenerator<Placed<E>> {
  for await (const entry of entries) yield { entry, place: { time: 0, id: nameOf(entry) } };
}

/** A list in which few entries match is searched for this long: its first page is answered within a second or so. */
export const listBudgetMs = secondMs;
/** Rows that a page reads whatever the time: a page whose entries are among them is not cut short on a busy machine. */
export const leastRead = 300;

/** The time for a count, and for a page of runs, each of which is read with its journal. */
export const countBudgetMs = 5 * secondMs;

export interface PageLimits {
  readonly count: number;
  readonly budgetMs: number;
  /** Whether the page has to end for another reason. */
  readonly isReached?: () => boolean;
}

/**
 * Takes a page from a list. A row may have several entries that are wanted, or none. Where few are wanted, it goes on
 * until its time is over, and gives the place where it stopped.
 *
 * @param entriesOf a row's wanted entries, in the order of the list
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
    const isOver = (now() > until && read >= leastRead) || limits.isReached?.() === true;
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

/** Records that are made at once. */
const recordsAtOnce = 10;
/** The time in which the records of one answer are made: the gateway gives up after 29 s. */
const recordsBudgetMs = 20 * secondMs;
/** Bytes of an answer besides its records: the names of its fields, and a cursor. */
const frameBytes = 1_000;

export interface ShownPage<R> {
  readonly records: readonly R[];
  /** Absent at the end of the list. */
  readonly cursor: string | undefined;
}

/**
 * Makes records of a list's entries: as many as fit into an answer, but at least one.
 *
 * @param scope the list's owner and what it lists, so that a cursor is good for this list only
 * @param next the place behind the last of the entries; undefined when the list ends with it
 * @param mostBytes bytes of JSON that the records may have
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
  /** @returns false when not all of them fit */
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
 * Makes records of a list that is ordered by name: as many as fit into an answer.
 *
 * @param entriesBehind reads the entries from behind a name on, or all of them
 * @throws HttpError 400 for a cursor that was not handed out for this list
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

/** The time after which a bulk operation answers where it stopped: the gateway gives up after 29 s. */
const bulkBudgetMs = 20 * secondMs;

/**
 * Works through the wanted rows of a list, step by step: all of them, or `count`, or as many as the time suffices for. Each
 * step is complete before the next begins: where the process dies, a repetition has the rest to do.
 *
 * @param scope the list's owner and what it lists, so that a cursor is good for this list only
 * @param entryOf gives undefined for a row that is not wanted
 * @param step does one step, with at most `atOnce` entries
 * @returns the cursor to go on with; undefined when all are done
 */
export async function onEach<T extends Ordered, E>(
  scope: string,
  rows: AsyncIterable<T> | Iterable<T>,
  limits: { readonly count: number; readonly atOnce: number },
  entryOf: (row: T) => E | undefined,
  step: (entries: readonly E[]) => Promise<void>,
): Promise<string | undefined> {
  const until = now() + bulkBudgetMs;
  let some: E[] = [];
  let left = limits.count;
  let last: Place | undefined;
  let isBegun = false;
  try {
    for await (const row of rows) {
      if (some.length === Math.min(limits.atOnce, left) || now() > until) {
        if (some.length > 0) await step(some);
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
    // Steps that are done stay done: where others read too much by then, the answer says where it stopped.
    if (!isScanRefusal(error) || !(isBegun || some.length > 0)) throw error;
    if (some.length > 0) await step(some);
    return sealed(scope, last);
  }
  if (some.length > 0) await step(some);
  return undefined;
}

export interface Counted {
  readonly count: number;
  /** Whether there may be more, behind the cursor. */
  readonly atLeast?: true;
  readonly cursor: string | undefined;
}

/** Entries that one count reaches: beyond it the answer says "at least". */
const mostCounted = 10_000;

/**
 * Counts the wanted rows of a list: all of them, or up to a bound, or as many as the time suffices for.
 *
 * @param scope the list's owner and what it lists, so that a cursor is good for this list only
 * @param entryOf gives undefined for a row that is not wanted
 * @param note gets each entry that is counted
 * @returns their number, and the cursor to go on with; no cursor when all are counted
 */
export async function countEach<T extends Ordered, E>(
  scope: string,
  rows: AsyncIterable<T>,
  entryOf: (row: T) => E | undefined,
  note: (entry: E) => void = () => undefined,
): Promise<Counted> {
  const until = now() + countBudgetMs;
  let count = 0;
  let last: Place | undefined;
  for await (const row of rows) {
    if (last !== undefined && (now() > until || count >= mostCounted))
      return { count, atLeast: true, cursor: await sealed(scope, last) };
    const entry = entryOf(row);
    if (entry !== undefined) {
      count += 1;
      note(entry);
    }
    last = { time: row.time, id: row.id };
  }
  return { count, cursor: undefined };
}
