import { encodeTime } from 'ulid';
import type { Order, Place } from './cursor.ts';
import { idPattern } from '../shared/idPattern.ts';
import type { IdKind } from '../shared/ids.ts';

/** The part of an account that tells the partitions of its rows. */
export interface Sharded {
  readonly id: string;
  /** The number of partitions. */
  readonly shards: number;
}

/** Names all partitions of an account's rows. */
export const shardsOf = ({ id, shards }: Sharded): readonly string[] =>
  Array.from({ length: shards }, (_, number) => `${id}#${number}`);

const idPatterns: Readonly<Record<IdKind, RegExp>> = {
  msg: new RegExp(`^msg_${idPattern}$`),
  dlq: new RegExp(`^dlq_${idPattern}$`),
  scd: new RegExp(`^scd_${idPattern}$`),
  wfr: new RegExp(`^wfr_${idPattern}$`),
};

/** Whether a text is an id of a kind. No other text is read as a key: it may be that of another row, or none at all. */
export const isId = (kind: IdKind, text: string): boolean => idPatterns[kind].test(text);

/** The part of a list to read: between two moments, and from behind a place. */
export interface Range {
  /** The order in which it is read; undefined for the latest first. */
  readonly order?: Order | undefined;
  /** Unix milliseconds, inclusive. */
  readonly fromDate?: number | undefined;
  /** Unix milliseconds, inclusive. */
  readonly toDate?: number | undefined;
  readonly behind?: Place | undefined;
}

/** A row of a list, with the two fields that order it. */
export interface Ordered {
  /** Unix milliseconds. */
  readonly time: number;
  readonly id: string;
}

/** Compares rows as lists show them: newest first, and at one time the larger id first. */
export const isNewer = (one: Ordered, other: Ordered): boolean =>
  one.time !== other.time ? one.time > other.time : one.id > other.id;

/** Compares rows for sorting them as lists show them. */
export const byAge = (one: Ordered, other: Ordered): number => (isNewer(one, other) ? -1 : 1);

/** Makes the function that tells which of two rows comes first in an order. */
export const precedes = (order: Order | undefined): ((one: Ordered, other: Ordered) => boolean) =>
  order === 'earliestFirst' ? (one, other) => isNewer(other, one) : isNewer;

/** Makes the function that sorts rows in an order. */
export const byOrder = (order: Order | undefined): ((one: Ordered, other: Ordered) => number) =>
  order === 'earliestFirst' ? (one, other) => byAge(other, one) : byAge;

/** Whether a row comes behind a range's place, or is the row among whose entries the place is. */
export function isBehind(row: Ordered, { behind, order }: Pick<Range, 'behind' | 'order'>): boolean {
  if (behind === undefined) return true;
  if (row.time === behind.time && row.id === behind.id) return behind.shown !== undefined;
  return precedes(order)(behind, row);
}

/** Finds the moments between which the rows of a range are, Unix milliseconds; the last may be before the first. */
export function momentsOf({ fromDate = 0, toDate = Infinity, behind, order }: Range) {
  const isEarliestFirst = order === 'earliestFirst';
  return {
    first: Math.max(fromDate, isEarliestFirst ? (behind?.time ?? 0) : 0),
    last: Math.min(toDate, isEarliestFirst ? Infinity : (behind?.time ?? Infinity)),
  };
}

/** Unix milliseconds of the latest time that a ULID holds: 48 bits. */
const lastTime = 281_474_976_710_655;
const bounded = (time: number): number => Math.min(Math.max(0, time), lastTime);

/** Makes the bounds of the ids in a range; `~` sorts behind every character of an id. */
export function idBounds(kind: IdKind, range: Range): { readonly first: string; readonly last: string } {
  const { first, last } = momentsOf(range);
  return { first: `${kind}_${encodeTime(bounded(first))}`, last: `${kind}_${encodeTime(bounded(last))}~` };
}

/** Rows that a shard is asked for first: few, so that eight shards do not read much more than a page. */
export const rowsPerRead = 40;

/**
 * Puts rows of the same moment into order, by their ids, as lists show them and cursors rely on. The rows come in the order of
 * their moments, but an index has those of one moment in any order.
 */
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
