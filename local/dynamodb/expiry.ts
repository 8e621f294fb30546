/** Deletes expired rows, as DynamoDB does, and other expired data. */
import { setTimeout } from 'node:timers/promises';
import type { Store } from '../store/store.ts';
import { decode } from './codec.ts';
import { behindAll } from './keys.ts';
import type { Rows } from './rows.ts';
import { allTables, type Table } from './table.ts';
import type { Item } from './values.ts';

/** Rows that are read together, in a few milliseconds, before other work gets a turn. */
const together = 500;

interface ExpiryOptions {
  readonly rows: Rows;
  readonly now: () => number;
  /** Pauses between steps, so that the service can work. `tookMs` is the duration of the last step. */
  readonly pause: (tookMs: number) => Promise<void>;
}

/** Reads all tables once, and deletes expired rows. Returns the number of deleted rows. */
export async function deleteExpired(options: ExpiryOptions): Promise<number> {
  let deleted = 0;
  for (const table of allTables) {
    const { ttl } = table;
    if (ttl !== undefined) deleted += await deleteExpiredOf(table, ttl, options);
  }
  return deleted;
}

async function deleteExpiredOf(
  table: Table,
  ttl: string,
  { rows, now, pause }: ExpiryOptions,
): Promise<number> {
  let deleted = 0;
  for (let from: Buffer | undefined = table.prefix; from !== undefined;) {
    const startedAt = performance.now();
    const { keys, next } = someExpired(rows.store, from, behindAll(table.prefix), (row) =>
      isPast(row, ttl, now()),
    );
    const ended = await Promise.all(
      // The row's expiry may have been extended since it was read.
      keys.map((key) =>
        rows.change(table, key, (row) => (row !== undefined && isPast(row, ttl, now()) ? undefined : row)),
      ),
    );
    deleted += ended.filter(({ before, after }) => before !== after).length;
    await pause(performance.now() - startedAt);
    from = next;
  }
  return deleted;
}

/**
 * Finds the keys of expired rows among the first rows of a range. `next` is undefined at the end of the
 * table.
 */
function someExpired(store: Store, from: Buffer, to: Buffer, isExpired: (row: Item) => boolean) {
  const keys: Buffer[] = [];
  let read = 0;
  for (const { key, value } of store.range({ from, to })) {
    if (read === together) return { keys, next: key };
    read += 1;
    if (isExpired(decode(value))) keys.push(key);
  }
  return { keys, next: undefined };
}

function isPast(row: Item, ttl: string, nowMs: number): boolean {
  const until = row[ttl];
  return until !== undefined && 'N' in until && Number(until.N) < Math.floor(nowMs / 1_000);
}

const everyMs = 3_600_000;
/** Expiry uses a tenth of the process's time. */
const share = 10;

/** Deletes all expired data. @param pause called after each step */
export type Expire = (pause: ExpiryOptions['pause']) => Promise<number>;

/** @returns a function that stops it */
export function startExpiry(expire: Expire, report: (error: unknown) => void): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const rest = (ms: number): Promise<void> => setTimeout(ms, undefined, { signal, ref: false });
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await rest(everyMs / 60);
        await expire((tookMs) => rest((share - 1) * tookMs));
        await rest(everyMs);
      } catch (error) {
        if (!signal.aborted) report(error);
      }
    }
  };
  const running = run();
  return async () => {
    stopping.abort();
    await running;
  };
}
