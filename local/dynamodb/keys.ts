/**
 * The keys of rows and of the entries of indexes in the store. Rows of a partition are together, in the order of their sort keys;
 * partitions are in no useful order.
 */
import { createHash } from 'node:crypto';
import { numberKey } from './numbers.ts';
import type { Value } from './values.ts';

/** Bytes of a partition key, and of a row's key in an index. Longer ones are replaced by their hashes: the store takes keys of 1,978 bytes. */
const longestPartition = 700;
const longestRow = 200;
const hashMark = 0xffff;

/** The beginning of all keys of a table, or of an index. No name has the byte 0. */
export const prefixOf = (...names: readonly string[]): Buffer => Buffer.from(`d${names.join('/')}\0`);

/** The beginning of all keys of a partition. */
export function partitionKey(prefix: Buffer, partition: string): Buffer {
  const length = Buffer.byteLength(partition);
  if (length > longestPartition) return Buffer.concat([prefix, mark(hashMark), hash(Buffer.from(partition))]);
  const key = Buffer.allocUnsafe(prefix.length + 2 + length);
  prefix.copy(key);
  key.writeUInt16BE(length, prefix.length);
  key.write(partition, prefix.length + 2);
  return key;
}

/** @param sort the sort key; empty for a table without one */
export function rowKey(prefix: Buffer, partition: string, sort: string): Buffer {
  return withText(partitionKey(prefix, partition), sort);
}

const withText = (key: Buffer, text: string): Buffer =>
  text === '' ? key : Buffer.concat([key, Buffer.from(text)]);

/**
 * The key of an entry of an index. Entries with the same sort key are in the order of their rows' keys.
 *
 * @param row the key of the row, without the prefix of its table
 */
export function indexKey(prefix: Buffer, partition: string, sort: Value, row: Buffer): Buffer {
  const name = row.length > longestRow ? hash(row) : row;
  return Buffer.concat([partitionKey(prefix, partition), indexSort(sort), name]);
}

/** The sort key in an index. It ends in a way that no other one continues. */
export function indexSort(sort: Value): Buffer {
  if ('N' in sort) return Buffer.from(numberKey(sort.N));
  return Buffer.concat([indexText('S' in sort ? sort.S : ''), zero]);
}

/** A text in an index. Its bytes are greater by one, so that a byte 0 is free for its end: UTF-8 has no byte 255. */
export function indexText(text: string): Buffer {
  const bytes = Buffer.from(text);
  for (const [at, byte] of bytes.entries()) bytes[at] = byte + 1;
  return bytes;
}

/** The least key that is greater than all keys with this beginning. */
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

/** The key that comes next after a key. */
export const next = (key: Buffer): Buffer => Buffer.concat([key, zero]);
const zero = Buffer.alloc(1);

function mark(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

const hash = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();
