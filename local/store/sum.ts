/**
 * The sum of the checksums of all entries, which is an entry too. Each transaction writes it, so that what is missing or from an
 * earlier transaction is found: a disk may lose a write that it has confirmed, and what was there before looks sound.
 */
import { DamageError } from './checksum.ts';

/** No other entry has this key. */
export const sumKey = Buffer.from('=');

export class Sum {
  #sum: number;

  /** @param bytes the value of the entry without its own checksum, if it is there */
  constructor(bytes: Buffer | undefined) {
    if (bytes !== undefined && bytes.length !== 4)
      throw new DamageError('The store is damaged: its sum is wrong.');
    this.#sum = bytes?.readUInt32BE() ?? 0;
  }

  /** Adds an entry, by its sealed value. */
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
