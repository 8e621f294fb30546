/**
 * The keys of rows and index entries in the store. A partition's rows are adjacent, in sort-key order; partitions are in
 * arbitrary order.
 */
import { createHash } from 'node:crypto';
import { numberKey } from './numbers.ts';
import type { Value } from './values.ts';

/**
 * The longest partition key, and the longest key of a row in an index, in bytes. Longer ones are hashed,
 * because keys in the store have at most 1,978 bytes.
 */
const longestPartition = 700;
const longestRow = 200;
const hashMark = 0xffff;

/** The prefix of all keys of a table or an index. */
export const prefixOf = (...names: readonly string[]): Buffer => Buffer.from(`d${names.join('/')}\0`);

export function partitionKey(prefix: Buffer, partition: string): Buffer {
  const length = Buffer.byteLength(partition);
  if (length > longestPartition) return Buffer.concat([prefix, mark(hashMark), hash(Buffer.from(partition))]);
  const key = Buffer.allocUnsafe(prefix.length + 2 + length);
  prefix.copy(key);
  key.writeUInt16BE(length, prefix.length);
  key.write(partition, prefix.length + 2);
  return key;
}

/** @param sort the sort key; empty if the table has none */
export function rowKey(prefix: Buffer, partition: string, sort: string): Buffer {
  return withText(partitionKey(prefix, partition), sort);
}

const withText = (key: Buffer, text: string): Buffer =>
  text === '' ? key : Buffer.concat([key, Buffer.from(text)]);

/**
 * The key of an index entry. Entries with equal sort keys are ordered by their rows' keys.
 *
 * @param row the row's key without its table's prefix
 */
export function indexKey(prefix: Buffer, partition: string, sort: Value, row: Buffer): Buffer {
  const name = row.length > longestRow ? hash(row) : row;
  return Buffer.concat([partitionKey(prefix, partition), indexSort(sort), name]);
}

/** A sort key in an index, encoded so that no key is the beginning of another. */
export function indexSort(sort: Value): Buffer {
  if ('N' in sort) return Buffer.from(numberKey(sort.N));
  return Buffer.concat([indexText('S' in sort ? sort.S : ''), zero]);
}

/**
 * A text in an index. Each byte is increased by one, so that byte 0 can mark the end. UTF-8 has no byte 255.
 */
export function indexText(text: string): Buffer {
  const bytes = Buffer.from(text);
  for (const [at, byte] of bytes.entries()) bytes[at] = byte + 1;
  return bytes;
}

/** The smallest key after all keys with this prefix. */
export function behindAll(prefix: Buffer): Buffer {
  const key = Buffer.from(prefix);
  for (let at = key.length - 1; at >= 0; at -= 1) {
    const byte = key[at] ?? 0;
    if (byte < 0xff) {
      key[at] = byte + 1;
      return key.subarray(0, at + 1);
    }
  }
  throw new Error('No key is greater.');
}

/** The smallest key after a key. */
export const next = (key: Buffer): Buffer => Buffer.concat([key, zero]);
const zero = Buffer.alloc(1);

function mark(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

const hash = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();
