/** Checks a tree in a store's file: its pages from the root down, the order of keys, and the counts. */
import { DamageError } from './checksum.ts';
import type { Meta, Tree } from './metas.ts';
import { childrenOf, leavesOf, type Overflow } from './nodes.ts';
import { damageAt, headerBytes, longAt, type Kind, type PageFile } from './pageFile.ts';

/** More levels than a tree of LMDB can have. */
const mostLevels = 32;

/** A page of a tree, and the range of its keys: from `low`, and below `high`. */
interface Place {
  readonly page: number;
  readonly low: Buffer | undefined;
  readonly high: Buffer | undefined;
  /**
   * The transaction that wrote the parent. The page cannot be newer, because writing a page also writes its
   * parents.
   */
  readonly newest: number;
}

/** The pages that are already known to be in use. */
export class Owned {
  readonly #bits: Uint8Array;
  readonly #lastPage: number;

  constructor(lastPage: number) {
    this.#lastPage = lastPage;
    this.#bits = new Uint8Array(Math.floor(lastPage / 8) + 1);
  }

  /** @throws DamageError if a page is already in use or cannot be used */
  take(page: number, count = 1): void {
    const isThere = page >= 2 && count >= 1 && page + count - 1 <= this.#lastPage;
    if (!isThere) throw new DamageError(`page ${page} is named, but is not one of its pages`);
    for (let next = page; next < page + count; next += 1) {
      if (this.has(next)) throw damageAt(next, 'is used twice');
      const at = next >> 3;
      this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (next & 7));
    }
  }

  has(page: number): boolean {
    return (((this.#bits[page >> 3] ?? 0) >> (page & 7)) & 1) === 1;
  }
}

interface TreeOptions {
  readonly compare: (one: Buffer, other: Buffer) => number;
  /** @throws DamageError if an entry is not as it was written */
  readonly check: (key: Buffer, value: Buffer, page: number) => void;
}

export class TreeCheck {
  readonly #file: PageFile;
  readonly #owned: Owned;
  readonly #meta: Meta;
  readonly #tree: Tree;
  readonly #options: TreeOptions;
  /** The branches directly above leaves. */
  #lowest: Place[] = [];
  #overflows = 0;
  #entries = 0;

  constructor(file: PageFile, owned: Owned, meta: Meta, tree: Tree, options: TreeOptions) {
    this.#file = file;
    this.#owned = owned;
    this.#meta = meta;
    this.#tree = tree;
    this.#options = options;
  }

  async checkBranches(): Promise<void> {
    const { root, depth, rootTransaction } = this.#tree;
    if (root === undefined) {
      this.#expect({ depth: 0, branches: 0, leaves: 0 });
      return;
    }
    if (depth < 1 || depth > mostLevels) throw new DamageError('it has a wrong number of levels');
    this.#owned.take(root);
    const transaction = longAt(this.#file.read(root, depth > 1 ? 'branch' : 'leaf'), 8);
    if (transaction !== rootTransaction) throw damageAt(root, 'is of another transaction');
    let level: Place[] = [{ page: root, low: undefined, high: undefined, newest: rootTransaction }];
    const found = { depth, branches: 0, leaves: depth === 1 ? 1 : 0 };
    for (let depthLeft = depth; depthLeft > 1; depthLeft -= 1) {
      found.branches += level.length;
      const isLowest = depthLeft === 2;
      const next: Place[] = [];
      const newer: Place[] = [];
      for (const place of level) {
        const below = this.#below(place);
        for (const { page } of below) this.#owned.take(page);
        // There are many leaves, so they are read again instead of remembered.
        if (isLowest) found.leaves += below.length;
        else next.push(...below);
        newer.push({ ...place, newest: below[0]?.newest ?? 0 });
        await this.#file.yieldToEventLoop();
      }
      if (isLowest) this.#lowest = newer.toSorted((one, other) => other.newest - one.newest);
      else level = next;
    }
    this.#expect(found);
  }

  /**
   * Checks leaves and their values, those with the newest parents first, and finally the counts.
   *
   * @param until no leaf is begun after this time, as in `performance.now()`
   * @returns whether all were checked
   */
  async checkLeaves(until: number): Promise<boolean> {
    const { root, depth, rootTransaction } = this.#tree;
    if (depth === 1 && root !== undefined) {
      this.#checkLeaf({ page: root, low: undefined, high: undefined, newest: rootTransaction });
    }
    for (const branch of this.#lowest) {
      for (const place of this.#below(branch)) {
        if (performance.now() > until) return false;
        this.#checkLeaf(place);
        await this.#file.yieldToEventLoop();
      }
    }
    const isCounted = this.#entries === this.#tree.entries && this.#overflows === this.#tree.overflows;
    if (!isCounted) throw new DamageError('entries are missing, or too many');
    return true;
  }

  #expect(found: Pick<Tree, 'depth' | 'branches' | 'leaves'>): void {
    const { depth, branches, leaves } = this.#tree;
    if (depth !== found.depth || branches !== found.branches || leaves !== found.leaves) {
      throw new DamageError('pages are missing, or too many');
    }
  }

  #read({ page, newest }: Place, kind: Kind): Buffer {
    const bytes = this.#file.read(page, kind);
    if (longAt(bytes, 8) > newest) throw damageAt(page, 'is of another transaction');
    return bytes;
  }

  #below(place: Place): readonly Place[] {
    const bytes = this.#read(place, 'branch');
    const newest = longAt(bytes, 8);
    const children = childrenOf(place.page, bytes);
    this.#checkOrder(place, children.slice(1));
    return children.map(({ page, key }, index) => ({
      page,
      low: index === 0 ? place.low : key,
      high: children[index + 1]?.key ?? place.high,
      newest,
    }));
  }

  /** Checks that keys are in order and within the parent's range. */
  #checkOrder({ page, low, high }: Place, entries: readonly { readonly key: Buffer }[]): void {
    let last: Buffer | undefined;
    for (const { key } of entries) {
      const isInOrder =
        last === undefined
          ? low === undefined || this.#options.compare(low, key) <= 0
          : this.#options.compare(last, key) < 0;
      if (!isInOrder) throw damageAt(page, 'has keys in a wrong order');
      last = key;
    }
    const isBelow = last === undefined || high === undefined || this.#options.compare(last, high) < 0;
    if (!isBelow) throw damageAt(page, 'has keys in a wrong order');
  }

  #checkLeaf(place: Place): void {
    const entries = leavesOf(place.page, this.#read(place, 'leaf'));
    this.#checkOrder(place, entries);
    this.#entries += entries.length;
    for (const { key, value } of entries) {
      const bytes = Buffer.isBuffer(value) ? value : this.#overflow(value);
      this.#options.check(key, bytes, place.page);
    }
  }

  #overflow({ page, transaction, count, length }: Overflow): Buffer {
    const { pageBytes } = this.#file;
    // A value that replaced a larger one in the same transaction still has the larger one's pages.
    if (headerBytes + length > count * pageBytes) throw damageAt(page, 'is of a shorter value');
    this.#owned.take(page, count);
    const bytes = this.#file.read(page, 'overflow', count);
    // In a compact copy, all references are to transaction 1.
    const isOfValue = transaction === 1 || longAt(bytes, 8) === transaction;
    const isIts = isOfValue && transaction <= this.#meta.transaction && bytes.readUInt32LE(20) === count;
    if (!isIts) throw damageAt(page, 'is of another value');
    this.#overflows += count;
    return bytes.subarray(headerBytes, headerBytes + length);
  }
}
