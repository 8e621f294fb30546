/**
 * The sum of all entries' checksums, itself an entry, which each transaction updates. It reveals missing or outdated entries: a
 * disk may lose a confirmed write.
 */
import { DamageError } from './checksum.ts';

/** No other entry has this key. */
export const sumKey = Buffer.from('=');

export class Sum {
  #sum: number;

  /** @param bytes the entry's value without its checksum, if it exists */
  constructor(bytes: Buffer | undefined) {
    if (bytes !== undefined && bytes.length !== 4)
      throw new DamageError('The store is damaged: its sum is wrong.');
    this.#sum = bytes?.readUInt32BE() ?? 0;
  }

  /** Adds an entry, by its value with checksum. */
  add(value: Buffer): void {
    this.#sum = (this.#sum + value.readUInt32BE()) >>> 0;
  }

  remove(value: Buffer): void {
    this.#sum = (this.#sum - value.readUInt32BE()) >>> 0;
  }

  equals(other: Sum): boolean {
    return this.#sum === other.#sum;
  }

  bytes(): Buffer {
    const bytes = Buffer.allocUnsafe(4);
    bytes.writeUInt32BE(this.#sum);
    return bytes;
  }
}
