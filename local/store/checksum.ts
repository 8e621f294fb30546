/** Checksums of entries. LMDB has none, and a disk may return wrong bytes. */
import { crc32 } from 'node:zlib';

/** An entry differs from what was written. */
export class DamageError extends Error {}

const checksumBytes = 4;

/** With an empty array, zlib restarts and forgets the key. */
const checksumOf = (key: Uint8Array, value: Uint8Array): number =>
  value.length === 0 ? crc32(key) : crc32(value, crc32(key));

/** Puts a checksum of key and value before the value. */
export function sealed(key: Uint8Array, value: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(checksumBytes + value.length);
  bytes.writeUInt32BE(checksumOf(key, value));
  bytes.set(value, checksumBytes);
  return bytes;
}

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
