/** The first two pages of a store's file (`MDB_meta` in LMDB's source). Transaction N writes page N % 2. */
import { DamageError } from './checksum.ts';
import { damageAt, longAt, type PageFile } from './pageFile.ts';

const magic = 0xbeefc0de;
const version = 2;
/** Flags of the file: free pages have integer keys (0x08), and the store is a file, not a folder (0x4000). */
const fileFlags = 0x4008;
const leastPageBytes = 512;
const mostPageBytes = 65_536;
const noPage = 2n ** 64n - 1n;

/** Offsets of the fields. */
const at = { magic: 24, version: 28, freeTree: 48, mainTree: 96, lastPage: 144, transaction: 152 } as const;
const metaBytes = 168;

/** A tree of pages (`MDB_db`), with its counts as of the last transaction. */
export interface Tree {
  readonly depth: number;
  readonly branches: number;
  readonly leaves: number;
  readonly overflows: number;
  readonly entries: number;
  readonly root: number | undefined;
  readonly rootTransaction: number;
}

export interface Meta {
  readonly transaction: number;
  readonly lastPage: number;
  /** The free pages, by the transactions that freed them. */
  readonly free: Tree;
  readonly main: Tree;
  /** The used part of the meta page. */
  readonly bytes: Buffer;
}

/**
 * Checks both meta pages, and sets the page size.
 *
 * @returns the newer one
 * @throws DamageError
 */
export function readMetas(file: PageFile): Meta {
  file.pageBytes = pageBytesOf(file);
  const [even, odd] = [readMeta(file, 0), readMeta(file, 1)];
  // In a new file only the second meta page, or neither, is written. The same is true for a compact copy,
  // whose pages are all of transaction 1.
  if (even.transaction === 0 && even.main.root === undefined && even.free.root === undefined) {
    return odd.transaction === 0 ? even : { ...odd, main: { ...odd.main, rootTransaction: 1 } };
  }
  if (Math.abs(even.transaction - odd.transaction) !== 1) {
    throw new DamageError('its first two pages are of different times');
  }
  return even.transaction > odd.transaction ? even : odd;
}

function pageBytesOf(file: PageFile): number {
  if (file.length === 0) throw new DamageError('it is empty');
  const bytes = file.readAt(0, metaBytes);
  if (bytes.length < metaBytes) throw new DamageError('it is too short');
  const pageBytes = bytes.readUInt32LE(at.freeTree);
  const isPower = (pageBytes & (pageBytes - 1)) === 0;
  if (isPower && pageBytes >= leastPageBytes && pageBytes <= mostPageBytes) return pageBytes;
  throw damageAt(0, 'has a wrong size of pages');
}

function readMeta(file: PageFile, page: number): Meta {
  const bytes = file.read(page, 'meta');
  if (bytes.readUInt32LE(at.magic) !== magic) throw damageAt(page, 'is not of a store');
  if (bytes.readUInt32LE(at.version) !== version) throw damageAt(page, 'is of another format');
  const isOfFile =
    bytes.readUInt32LE(at.freeTree) === file.pageBytes &&
    bytes.readUInt16LE(at.freeTree + 4) === fileFlags &&
    bytes.readUInt32LE(at.mainTree) === 0 &&
    bytes.readUInt16LE(at.mainTree + 4) === 0;
  if (!isOfFile) throw damageAt(page, 'describes another kind of file');
  const transaction = longAt(bytes, at.transaction);
  // In a new file both pages have transaction 0.
  if (transaction % 2 !== page && transaction !== 0) throw damageAt(page, 'is of another transaction');
  const lastPage = longAt(bytes, at.lastPage);
  if (lastPage < 1 || lastPage > Number.MAX_SAFE_INTEGER) throw damageAt(page, 'has a wrong number of pages');
  return {
    transaction,
    lastPage,
    free: readTree(bytes, at.freeTree, transaction),
    main: readTree(bytes, at.mainTree, transaction),
    bytes: bytes.subarray(0, metaBytes),
  };
}

/** Makes both meta pages, with their page numbers, of a file that has only this transaction. */
export function metaPagesOf(bytes: Buffer): readonly (readonly [number, Buffer])[] {
  const transaction = longAt(bytes, at.transaction);
  return [transaction, transaction - 1].map((number) => {
    const page = Buffer.from(bytes);
    page.writeBigUInt64LE(BigInt(number % 2));
    page.writeBigUInt64LE(BigInt(number), at.transaction);
    return [number % 2, page];
  });
}

function readTree(bytes: Buffer, offset: number, transaction: number): Tree {
  const root = bytes.readBigUInt64LE(offset + 40);
  return {
    depth: bytes.readUInt16LE(offset + 6),
    branches: longAt(bytes, offset + 8),
    leaves: longAt(bytes, offset + 16),
    overflows: longAt(bytes, offset + 24),
    entries: longAt(bytes, offset + 32),
    root: root === noPage ? undefined : Number(root),
    rootTransaction: transaction,
  };
}
