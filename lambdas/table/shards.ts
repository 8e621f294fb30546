import { encodeTime } from 'ulid';
import type { Order, Place } from './cursor.ts';
import { idPattern } from '../shared/idPattern.ts';
import type { IdKind } from '../shared/ids.ts';

export interface Sharded {
  readonly id: string;
  readonly shards: number;
}

export const shardsOf = ({ id, shards }: Sharded): readonly string[] =>
  Array.from({ length: shards }, (_, number) => `${id}#${number}`);

const idPatterns: Readonly<Record<IdKind, RegExp>> = {
  msg: new RegExp(`^msg_${idPattern}$`),
  dlq: new RegExp(`^dlq_${idPattern}$`),
  scd: new RegExp(`^scd_${idPattern}$`),
  wfr: new RegExp(`^wfr_${idPattern}$`),
  blk: new RegExp(`^blk_${idPattern}$`),
};

/** Whether a text is an id. Other texts are not used as keys: they may be another row's key, or invalid. */
export const isId = (kind: IdKind, text: string): boolean => idPatterns[kind].test(text);

/** The part of a list to read: between two times, after a place. */
export interface Range {
  /** Latest first by default. */
  readonly order?: Order | undefined;
  /** Inclusive. */
  readonly fromDate?: number | undefined;
  /** Inclusive. */
  readonly toDate?: number | undefined;
  readonly behind?: Place | undefined;
}

/** A list's row, with the fields that order it. */
export interface Ordered {
  readonly time: number;
  readonly id: string;
}

/** Whether a row is newer, or has a larger id at the same time. */
export const isNewer = (one: Ordered, other: Ordered): boolean =>
  one.time !== other.time ? one.time > other.time : one.id > other.id;

/** Sorts newest first. */
export const byAge = (one: Ordered, other: Ordered): number => (isNewer(one, other) ? -1 : 1);

export const precedes = (order: Order | undefined): ((one: Ordered, other: Ordered) => boolean) =>
  order === 'earliestFirst' ? (one, other) => isNewer(other, one) : isNewer;

export const byOrder = (order: Order | undefined): ((one: Ordered, other: Ordered) => number) =>
  order === 'earliestFirst' ? (one, other) => byAge(other, one) : byAge;

/** Whether a row comes after a range's place, or contains it. */
export function isBehind(row: Ordered, { behind, order }: Pick<Range, 'behind' | 'order'>): boolean {
  if (behind === undefined) return true;
  if (row.time === behind.time && row.id === behind.id) return behind.shown !== undefined;
  return precedes(order)(behind, row);
}

/** The first and last time of a range. If the range is empty, the last is before the first. */
export function momentsOf({ fromDate = 0, toDate = Infinity, behind, order }: Range) {
  const isEarliestFirst = order === 'earliestFirst';
  return {
    first: Math.max(fromDate, isEarliestFirst ? (behind?.time ?? 0) : 0),
    last: Math.min(toDate, isEarliestFirst ? Infinity : (behind?.time ?? Infinity)),
  };
}

/** The latest time in a ULID: 48 bits. */
const lastTime = 281_474_976_710_655;
const bounded = (time: number): number => Math.min(Math.max(0, time), lastTime);

/** The first and last possible id in a range. `~` sorts after all characters of an id. */
export function idBounds(kind: IdKind, range: Range): { readonly first: string; readonly last: string } {
  const { first, last } = momentsOf(range);
  return { first: `${kind}_${encodeTime(bounded(first))}`, last: `${kind}_${encodeTime(bounded(last))}~` };
}

/** Rows in a shard's first read. Few, so that eight shards do not read much more than a page. */
export const rowsPerRead = 40;

/** Sorts rows with the same time by id, as lists and cursors require. An index sorts rows only by time. */
export async function* inOrder<T extends Ordered>(rows: AsyncIterable<T>, order?: Order): AsyncGenerator<T> {
  let moment: T[] = [];
  const take = (): T[] => moment.sort(byOrder(order));
  for await (const row of rows) {
    if (moment[0] !== undefined && moment[0].time !== row.time) {
      yield* take();
      moment = [];
    }
    moment.push(row);
  }
  yield* take();
}
