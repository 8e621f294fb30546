/** Checksums of entries, and their sum. LMDB has no checksums, and a disk may return wrong bytes. */
import { crc32 } from 'node:zlib';

/** An entry is not as it was written. */
export class DamageError extends Error {}

const checksumBytes = 4;

/** Empty values are left out, because with an empty array zlib would forget the key. */
const checksumOf = (key: Uint8Array, value: Uint8Array): number =>
  value.length === 0 ? crc32(key) : crc32(value, crc32(key));

export function sealed(key: Uint8Array, value: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(checksumBytes + value.length);
  bytes.writeUInt32BE(checksumOf(key, value));
  bytes.set(value, checksumBytes);
  return bytes;
}

/** Whether the bytes are a valid checksum followed by this value. */
export const isSealed = (bytes: Buffer, value: Buffer): boolean =>
  bytes.length === checksumBytes + value.length && bytes.compare(value, 0, value.length, checksumBytes) === 0;

/**
 * Removes the checksum.
 *
 * @throws DamageError if it is wrong
 */
export function checked(key: Uint8Array, bytes: Buffer): Buffer {
  const value = bytes.subarray(checksumBytes);
  if (bytes.length >= checksumBytes && bytes.readUInt32BE() === checksumOf(key, value)) return value;
  throw new DamageError('The store is damaged: an entry differs from what was written.');
}

export const sumKey = Buffer.from('=');

/**
 * The sum of all entries' checksums. It is itself an entry, which each transaction updates. It reveals
 * missing or outdated entries, because a disk may lose a write that it has confirmed.
 */
export class Sum {
  #sum: number;

  /** @param bytes the entry's value without its checksum, if it exists */
  constructor(bytes: Buffer | undefined) {
    if (bytes !== undefined && bytes.length !== 4)
      throw new DamageError('The store is damaged: its sum is wrong.');
    this.#sum = bytes?.readUInt32BE() ?? 0;
  }

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
