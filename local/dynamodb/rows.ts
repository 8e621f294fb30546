/** The rows of all tables. A write builds on all earlier writes. A read sees only what is on the disk. */
import type { Store } from '../store/store.ts';
import { decode, encode } from './codec.ts';
import { entryKey } from './indexes.ts';
import type { Table } from './table.ts';
import type { Item } from './values.ts';

/** The number of rows that are kept as objects, and the most bytes of each: most rows are read soon after they are written. */
const mostRecent = 8_000;
const largestRecent = 4_096;

interface Pending {
  /** Undefined if the row was deleted. */
  readonly row: Item | undefined;
  readonly committed: Promise<void>;
}

export class Rows {
  readonly store: Store;
  readonly #pending = new Map<string, Pending>();
  readonly #recent = new Map<string, Item>();

  constructor(store: Store) {
    this.store = store;
  }

  /** The row on the disk. */
  read(key: Buffer): Item | undefined {
    const recent = this.#recent.get(key.toString('latin1'));
    if (recent !== undefined) return recent;
    const bytes = this.store.get(key);
    return bytes && decode(bytes);
  }

  *range(from: Buffer, to: Buffer, isReverse = false): Generator<Item> {
    for (const { key, value } of this.store.range({ from, to, isReverse })) {
      yield this.#recent.get(key.toString('latin1')) ?? decode(value);
    }
  }

  /** Waits until a row's latest write is on the disk, because an answer must not report a write that may be lost. */
  settled(key: Buffer): Promise<void> {
    return this.#pending.get(key.toString('latin1'))?.committed ?? Promise.resolve();
  }

  latest(key: Buffer): Item | undefined {
    const pending = this.#pending.get(key.toString('latin1'));
    return pending === undefined ? this.read(key) : pending.row;
  }

  /**
   * Writes or deletes a row.
   *
   * @param before the latest row
   * @returns resolves when the write is on the disk
   */
  write(table: Table, key: Buffer, before: Item | undefined, after: Item | undefined): Promise<void> {
    const entries = table.indexes.map((index) => {
      const row = key.subarray(table.prefix.length);
      return { row, was: before && entryKey(index, before, row), is: after && entryKey(index, after, row) };
    });
    const bytes = after && encode(after);
    this.store.write(key, bytes);
    for (const { row, was, is } of entries) {
      if (was !== undefined && is?.equals(was) !== true) this.store.write(was, undefined);
      if (is !== undefined && was?.equals(is) !== true) this.store.write(is, row);
    }
    const committed = this.store.committed();
    const id = key.toString('latin1');
    const pending = { row: after, committed };
    this.#pending.set(id, pending);
    // The row is on the disk slightly before this process knows it. Until then all reads use the disk, so that they agree.
    this.#recent.delete(id);
    const isSmall = bytes !== undefined && bytes.length <= largestRecent;
    const settle = (isWritten: boolean): void => {
      if (this.#pending.get(id) !== pending) return;
      this.#pending.delete(id);
      if (isWritten && isSmall && after !== undefined) this.#keep(id, after);
    };
    committed.then(
      () => {
        settle(true);
      },
      () => {
        settle(false);
      },
    );
    return committed;
  }

  #keep(id: string, row: Item): void {
    this.#recent.delete(id);
    this.#recent.set(id, row);
    if (this.#recent.size <= mostRecent) return;
    const [oldest] = this.#recent.keys();
    if (oldest !== undefined) this.#recent.delete(oldest);
  }
}
