/**
 * The rows of all tables. A change is decided inside its transaction, and sees all earlier changes. A read
 * sees what is on the disk.
 */
import type { Store, Write } from '../store/store.ts';
import { decode, encode } from './codec.ts';
import { entryKey } from './indexes.ts';
import type { Table } from './table.ts';
import type { Item } from './values.ts';

/**
 * How many rows are kept as objects, and the most bytes of each. Most rows are read soon after they are
 * written.
 */
const mostRecent = 8_000;
const largestRecent = 4_096;

interface Recent {
  readonly bytes: Buffer;
  readonly row: Item;
}

interface Changed {
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

export class Rows {
  readonly store: Store;
  /** An object is used only if the store still has the same bytes. */
  readonly #recent = new Map<string, Recent>();

  constructor(store: Store) {
    this.store = store;
  }

  read(key: Buffer): Item | undefined {
    const recent = this.#recent.get(key.toString('latin1'));
    const bytes = this.store.peek(key, recent?.bytes);
    if (bytes === undefined) return undefined;
    return bytes === recent?.bytes ? recent.row : decode(bytes);
  }

  *range(from: Buffer, to: Buffer, isReverse = false): Generator<Item> {
    for (const { key, value } of this.store.range({ from, to, isReverse })) {
      const recent = this.#recent.get(key.toString('latin1'));
      yield recent?.bytes.equals(value) === true ? recent.row : decode(value);
    }
  }

  /**
   * Writes or deletes a row. Resolves when the change is on the disk.
   *
   * @param after returns the new row for the old one; undefined to delete it
   * @throws Error of `after`
   */
  change(table: Table, key: Buffer, after: (before: Item | undefined) => Item | undefined): Promise<Changed> {
    return this.store.change((write) => this.changeIn(write, table, key, after));
  }

  /** Like {@link change}, as part of a transaction. */
  changeIn(
    write: Write,
    table: Table,
    key: Buffer,
    after: (before: Item | undefined) => Item | undefined,
  ): Changed {
    const before = this.read(key);
    const row = after(before);
    if (row === before) return { before, after: row };
    const bytes = row && encode(row);
    write(key, bytes);
    for (const index of table.indexes) {
      const value = key.subarray(table.prefix.length);
      const was = before && entryKey(index, before, value);
      const is = row && entryKey(index, row, value);
      if (was !== undefined && is?.equals(was) !== true) write(was, undefined);
      if (is !== undefined && was?.equals(is) !== true) write(is, value);
    }
    this.#keep(key.toString('latin1'), row, bytes);
    return { before, after: row };
  }

  #keep(id: string, row: Item | undefined, bytes: Buffer | undefined): void {
    this.#recent.delete(id);
    if (row === undefined || bytes === undefined || bytes.length > largestRecent) return;
    this.#recent.set(id, { bytes, row });
    if (this.#recent.size <= mostRecent) return;
    const [oldest] = this.#recent.keys();
    if (oldest !== undefined) this.#recent.delete(oldest);
  }
}
