/** The nodes of a page (`MDB_node` in LMDB's source): children of branches, and entries of leaves. */
import { damageAt, headerBytes, longAt } from './pageFile.ts';

/**
 * A node begins with the length of its value (or the number of a child), flags, and the length of its key.
 */
const nodeBytes = 8;
/**
 * If a value is on separate pages, the node has the number of the first page, their transaction, and how many
 * there are.
 */
const overflowBytes = 24;
const overflowFlag = 0x01;

export interface Overflow {
  readonly page: number;
  readonly transaction: number;
  readonly count: number;
  /** The length of the value, in bytes. */
  readonly length: number;
}

interface Child {
  readonly page: number;
  /** The first key that the child can have; empty for the first child. */
  readonly key: Buffer;
}

interface Leaf {
  readonly key: Buffer;
  readonly value: Buffer | Overflow;
}

export function childrenOf(page: number, bytes: Buffer): readonly Child[] {
  const offsets = offsetsOf(page, bytes, () => 0);
  // LMDB would have merged a branch with one child into its parent.
  if (offsets.length < 2) throw damageAt(page, 'has too few children');
  return offsets.map((offset) => ({
    page: bytes.readUInt32LE(offset) + bytes.readUInt16LE(offset + 4) * 2 ** 32,
    key: keyAt(bytes, offset),
  }));
}

export function leavesOf(page: number, bytes: Buffer): readonly Leaf[] {
  const offsets = offsetsOf(page, bytes, (offset) =>
    isOverflow(bytes, offset) ? overflowBytes : bytes.readUInt32LE(offset),
  );
  if (offsets.length === 0) throw damageAt(page, 'has no entries');
  return offsets.map((offset) => {
    if (bytes.readUInt16LE(offset + 4) > overflowFlag)
      throw damageAt(page, 'has an entry of an unknown kind');
    const key = keyAt(bytes, offset);
    const length = bytes.readUInt32LE(offset);
    const start = offset + nodeBytes + key.length;
    return {
      key,
      value: isOverflow(bytes, offset)
        ? {
            page: longAt(bytes, start),
            transaction: longAt(bytes, start + 8),
            count: longAt(bytes, start + 16),
            length,
          }
        : bytes.subarray(start, start + length),
    };
  });
}

const isOverflow = (bytes: Buffer, offset: number): boolean =>
  (bytes.readUInt16LE(offset + 4) & overflowFlag) !== 0;

function keyAt(bytes: Buffer, offset: number): Buffer {
  const start = offset + nodeBytes;
  return bytes.subarray(start, start + bytes.readUInt16LE(offset + 6));
}

/** Finds the offsets of a page's nodes, in key order. */
function offsetsOf(page: number, bytes: Buffer, valueBytes: (offset: number) => number): readonly number[] {
  const lower = bytes.readUInt16LE(20);
  const upper = bytes.readUInt16LE(22);
  const first = headerBytes + upper;
  if (lower % 2 !== 0 || lower > upper || first > bytes.length) throw damageAt(page, 'has wrong bounds');
  const offsets: number[] = [];
  let filled = 0;
  for (let at = headerBytes; at < headerBytes + lower; at += 2) {
    const offset = headerBytes + bytes.readUInt16LE(at);
    if (offset < first || offset + nodeBytes > bytes.length) throw damageAt(page, 'has an entry outside it');
    const length = nodeBytes + bytes.readUInt16LE(offset + 6) + valueBytes(offset);
    if (offset + length > bytes.length) throw damageAt(page, 'has an entry outside it');
    // Nodes begin at even offsets.
    filled += length + (length % 2);
    offsets.push(offset);
  }
  if (filled !== bytes.length - first) throw damageAt(page, 'has other entries than it says');
  return offsets;
}
