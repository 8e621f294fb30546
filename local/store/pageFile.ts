/** Reads the pages of a store's file without LMDB, in the layout of LMDB 1.0 (`MDB_page` in its source). */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { DamageError } from './checksum.ts';

/** A page begins with its number, its transaction, an unused number, its kind, and two bounds. */
export const headerBytes = 24;

const kinds = { branch: 0x01, leaf: 0x02, overflow: 0x04, meta: 0x08 } as const;
export type Kind = keyof typeof kinds;

/** After this time (in milliseconds) the event loop gets a turn, unless the disk is slower. */
const longestTurnMs = 20;

/** Makes an error whose message completes the sentence "The file is damaged: …". */
export const damageAt = (page: number, what: string): DamageError => new DamageError(`page ${page} ${what}`);

/** Reads an 8-byte number. Very large numbers are not exact, but compare as too large. */
export const longAt = (bytes: Buffer, offset: number): number => Number(bytes.readBigUInt64LE(offset));

/** The number of pages that share this header. */
export const countOf = (header: Buffer): number =>
  header.readUInt16LE(18) === kinds.overflow ? header.readUInt32LE(20) : 1;

export class PageFile {
  readonly #file: number;
  readonly length: number;
  #turnSince = performance.now();
  /** Set after reading the first page. */
  pageBytes = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'r');
    this.length = fstatSync(this.#file).size;
  }

  get pages(): number {
    return Math.floor(this.length / this.pageBytes);
  }

  /** Reads bytes; fewer at the end of the file. */
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
   * Reads a page and the pages that continue it, and checks its header.
   *
   * @throws DamageError
   */
  read(page: number, kind: Kind, count = 1): Buffer {
    const bytes = this.readAt(page * this.pageBytes, count * this.pageBytes);
    if (bytes.length < count * this.pageBytes) throw damageAt(page, 'is behind the end of the file');
    if (longAt(bytes, 0) !== page) throw damageAt(page, 'is not in its place');
    if (bytes.readUInt16LE(18) !== kinds[kind]) throw damageAt(page, `is not of its kind (${kind})`);
    return bytes;
  }

  /** Lets the event loop do other work if it has waited long enough. */
  async yieldToEventLoop(): Promise<void> {
    if (performance.now() - this.#turnSince < longestTurnMs) return;
    await setImmediate();
    this.#turnSince = performance.now();
  }

  close(): void {
    closeSync(this.#file);
  }
}
