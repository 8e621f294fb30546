/**
 * Finds the pages that changed after a transaction. LMDB never overwrites a page that is in use. A change
 * also writes all pages above the changed one.
 */
import { checked, DamageError } from './checksum.ts';
import { readMetas, type Meta } from './metas.ts';
import { childrenOf, leavesOf } from './nodes.ts';
import { countOf, damageAt, headerBytes, longAt, type PageFile } from './pageFile.ts';

const mostReads = 100;

/** Reads the newer meta page of a file that another process writes. @throws DamageError */
export function readMetaAtWork(file: PageFile): Meta {
  let last: Meta | undefined;
  for (let reads = 1; ; reads += 1) {
    try {
      const meta = readMetas(file);
      if (last?.bytes.equals(meta.bytes) === true) return meta;
      last = meta;
    } catch (error) {
      if (!(error instanceof DamageError) || reads === mostReads) throw error;
    }
  }
}

/**
 * Checks and returns pages, each with the pages that continue it. Unused bytes are set to zero.
 *
 * @param meta whose transaction a snapshot must keep
 * @param after the transaction; 0 for all pages
 * @throws DamageError
 */
export async function* newerPages(file: PageFile, meta: Meta, after: number): AsyncGenerator<Buffer> {
  for (const tree of [meta.free, meta.main]) {
    if (tree.root === undefined) continue;
    const check = tree === meta.main ? checked : () => undefined;
    for (const bytes of newerIn(file, tree.root, tree.depth, { after, check })) {
      yield bytes;
      await file.yieldToEventLoop();
    }
  }
}

interface Wanted {
  readonly after: number;
  readonly check: (key: Buffer, value: Buffer) => unknown;
}

function* newerIn(file: PageFile, page: number, levels: number, wanted: Wanted): Generator<Buffer> {
  const bytes = file.read(page, levels > 1 ? 'branch' : 'leaf');
  if (longAt(bytes, 8) <= wanted.after) return;
  if (levels > 1) {
    for (const child of childrenOf(page, bytes)) yield* newerIn(file, child.page, levels - 1, wanted);
  } else {
    for (const { key, value } of leavesOf(page, bytes)) {
      if (Buffer.isBuffer(value)) {
        wanted.check(key, value);
      } else if (value.transaction > wanted.after) {
        const whole = file.read(value.page, 'overflow', value.count);
        if (countOf(whole) !== value.count) throw damageAt(value.page, 'is of another value');
        const end = headerBytes + value.length;
        wanted.check(key, whole.subarray(headerBytes, end));
        yield whole.fill(0, end);
      }
    }
  }
  yield bytes.fill(0, headerBytes + bytes.readUInt16LE(20), headerBytes + bytes.readUInt16LE(22));
}
