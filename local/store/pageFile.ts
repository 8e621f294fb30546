/** Reads the pages of a store's file, as LMDB 1.0 lays them out (`MDB_page` in its source), without LMDB. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { DamageError } from './checksum.ts';

/** Each page begins with its number, its transaction, a number that is unused here, its kind, and two bounds. */
export const headerBytes = 24;

/** Kinds of pages. A page has one of them. */
export const kinds = { branch: 0x01, leaf: 0x02, overflow: 0x04, meta: 0x08 } as const;
export type Kind = keyof typeof kinds;

/** The event loop is not held up for longer than this, in ms, unless the disk takes longer to read a page. */
const longestTurnMs = 20;

/** Makes an error whose message completes the sentence "The file is damaged: …". */
export const damageAt = (page: number, what: string): DamageError => new DamageError(`page ${page} ${what}`);

/** Reads a number of 8 bytes. One that is too large to be exact is still too large for all comparisons here. */
export const longAt = (bytes: Buffer, offset: number): number => Number(bytes.readBigUInt64LE(offset));

export class PageFile {
  readonly #file: number;
  /** The length of the file, in bytes. */
  readonly length: number;
  #turnSince = performance.now();
  #pageBytes = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'r');
    this.length = fstatSync(this.#file).size;
  }

  get pageBytes(): number {
    return this.#pageBytes;
  }

  /** Sets the size of pages: it is known when the first of them has been read. */
  set pageBytes(bytes: number) {
    this.#pageBytes = bytes;
  }

  /** The number of pages that the file has in full. */
  get pages(): number {
    return Math.floor(this.length / this.#pageBytes);
  }

  /** Reads bytes; fewer where the file ends. */
  readAt(offset: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    let read = 0;
    while (read < length) {
      const count = readSync(this.#file, bytes, read, length - read, offset + read);
      if (count === 0) break;
      read += count;
    }
    return bytes.subarray(0, read);
  }

  /**
   * Reads a page with those that belong to it, and checks its header.
   *
   * @throws DamageError
   */
  read(page: number, kind: Kind, count = 1): Buffer {
    const bytes = this.readAt(page * this.#pageBytes, count * this.#pageBytes);
    if (bytes.length < count * this.#pageBytes) throw damageAt(page, 'is behind the end of the file');
    if (longAt(bytes, 0) !== page) throw damageAt(page, 'is not in its place');
    if (bytes.readUInt16LE(18) !== kinds[kind]) throw damageAt(page, `is not of its kind (${kind})`);
    return bytes;
  }

  /** Lets the event loop do other work, where it has waited long enough. */
  async breathe(): Promise<void> {
    if (performance.now() - this.#turnSince < longestTurnMs) return;
    await setImmediate();
    this.#turnSince = performance.now();
  }

  close(): void {
    closeSync(this.#file);
  }
}
