import { encodeTime } from 'ulid';
import type { Place } from '../domain/cursor.ts';
import { shardCount, type IdKind } from '../domain/ids.ts';

/** All partitions of an account's rows. */
export const shardsOf = (accountId: string): readonly string[] =>
  Array.from({ length: shardCount }, (_, number) => `${accountId}#${number}`);

const ulid = '[0-9A-HJKMNP-TV-Z]{26}';
const idPatterns: Readonly<Record<IdKind, RegExp>> = {
  msg: new RegExp(`^msg_${ulid}$`),
  dlq: new RegExp(`^dlq_${ulid}$`),
  scd: new RegExp(`^scd_${ulid}$`),
};

/** Whether there can be a row of this id: other keys are of other rows, or none that DynamoDB takes. */
export const isId = (kind: IdKind, text: string): boolean => idPatterns[kind].test(text);

/** What of a list is wanted: newest first, from behind a place, between two moments. */
export interface Range {
  /** Unix milliseconds, inclusive. */
  readonly fromDate?: number | undefined;
  /** Unix milliseconds, inclusive. */
  readonly toDate?: number | undefined;
  readonly behind?: Place | undefined;
}

/** A row of a list, with what orders it. */
export interface Ordered {
  /** Unix milliseconds. */
  readonly time: number;
  readonly id: string;
}

/** Whether a row stands behind the place, or is the one that the place is in the middle of. */
export function isBehind({ time, id }: Ordered, place: Place | undefined): boolean {
  if (place === undefined || time < place.time) return true;
  if (time > place.time) return false;
  return id < place.id || (id === place.id && place.shown !== undefined);
}

/** ULIDs hold times up to here. */
const lastTime = 281_474_976_710_655;
const bounded = (time: number): number => Math.min(Math.max(0, time), lastTime);

/** The ids of a range's first and last moment; `~` sorts behind every character of an id. */
export function idBounds(kind: IdKind, range: Range): { readonly first: string; readonly last: string } {
  const latest = Math.min(range.toDate ?? lastTime, range.behind?.time ?? lastTime);
  return {
    first: `${kind}_${encodeTime(bounded(range.fromDate ?? 0))}`,
    last: `${kind}_${encodeTime(bounded(latest))}~`,
  };
}

/** How many rows a shard is asked for at once: few enough that eight shards do not read much more than a page. */
export const rowsPerRead = 40;

/**
 * Rows that come latest first, those of one moment in whatever order an index has them: with the larger id first among
 * these, as lists show them and cursors count on.
 */
export async function* inOrder<T extends Ordered>(rows: AsyncIterable<T>): AsyncGenerator<T> {
  let moment: T[] = [];
  const take = (): T[] => moment.sort((one, other) => (one.id > other.id ? -1 : 1));
  for await (const row of rows) {
    if (moment[0] !== undefined && moment[0].time !== row.time) {
      yield* take();
      moment = [];
    }
    moment.push(row);
  }
  yield* take();
}
