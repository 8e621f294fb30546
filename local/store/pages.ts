/**
 * Looks for damage in a store's file. LMDB has no checksums for pages. With a damaged page it may crash, or
 * find fewer entries.
 *
 * The check does not notice if the last transaction is lost because the newer meta page has its previous
 * content, as after a loss of power. If time is too short for all leaves, it may also miss an outdated leaf,
 * which only the sum of all entries shows.
 */
import { checked, DamageError, Sum, sumKey } from './checksum.ts';
import { readMetas } from './metas.ts';
import { damageAt, longAt, PageFile } from './pageFile.ts';
import { Owned, TreeCheck } from './treeCheck.ts';

const defaultLimitMs = 1_000;
/** Free pages at the end of the file may be missing. At most this many are accepted. */
const mostMissing = 2 ** 24;

export interface CheckOptions {
  /** The time for leaves and values, in milliseconds. Other pages are always checked. */
  readonly limitMs?: number;
}

/**
 * Checks a file that no process writes.
 *
 * @returns the problem, if any
 */
export async function checkPages(path: string, options: CheckOptions = {}): Promise<string | undefined> {
  const until = performance.now() + (options.limitMs ?? defaultLimitMs);
  const file = new PageFile(path);
  try {
    await check(file, until);
    return undefined;
  } catch (error) {
    if (error instanceof DamageError) return error.message;
    if (error instanceof Error && 'code' in error && error.code === 'EIO') return 'the disk cannot read it';
    throw error;
  } finally {
    file.close();
  }
}

async function check(file: PageFile, until: number): Promise<void> {
  const meta = readMetas(file);
  if (meta.lastPage > file.pages + mostMissing) throw new DamageError('its end is missing');
  const owned = new Owned(meta.lastPage);
  const freed: Buffer[] = [];
  const free = new TreeCheck(file, owned, meta, meta.free, {
    compare: (one, other) => transactionOf(one) - transactionOf(other),
    check: (key, value, page) => {
      const transaction = transactionOf(key);
      if (transaction < 1 || transaction > meta.transaction)
        throw damageAt(page, 'is of another transaction');
      freed.push(Buffer.from(value));
    },
  });
  await free.checkBranches();
  await free.checkLeaves(Infinity);
  for (const list of freed) takeFree(owned, list);
  for (let page = Math.max(2, file.pages); page <= meta.lastPage; page += 1) {
    if (!owned.has(page)) throw new DamageError('its end is missing');
  }
  const sum = new Sum(undefined);
  let noted: Sum | undefined;
  const main = new TreeCheck(file, owned, meta, meta.main, {
    compare: (one, other) => Buffer.compare(one, other),
    check: (key, value, page) => {
      if (!isSound(key, value)) throw damageAt(page, 'has an entry that is not as it was written');
      if (key.equals(sumKey)) noted = new Sum(checked(key, value));
      else sum.add(value);
    },
  });
  await main.checkBranches();
  const isComplete = await main.checkLeaves(until);
  if (isComplete && !sum.equals(noted ?? new Sum(undefined))) {
    throw new DamageError('entries are missing, or older than others');
  }
}

function isSound(key: Buffer, value: Buffer): boolean {
  try {
    checked(key, value);
    return true;
  } catch {
    return false;
  }
}

function transactionOf(key: Buffer): number {
  if (key.length !== 8) throw new DamageError('its list of free pages has a wrong key');
  return longAt(key, 0);
}

/**
 * Takes the pages in a list of free pages. The list has their count, then the number of each page; for a
 * block, it has its negative length before its first page.
 */
function takeFree(owned: Owned, list: Buffer): void {
  const wrong = (): DamageError => new DamageError('its list of free pages is wrong');
  if (list.length < 8 || list.length % 8 !== 0) throw wrong();
  const end = 8 * (longAt(list, 0) + 1);
  if (end > list.length) throw wrong();
  for (let at = 8; at < end; at += 8) {
    const entry = Number(list.readBigInt64LE(at));
    // Pages that were already used again are zeros in the list.
    if (entry === 0) continue;
    if (entry > 0) owned.take(entry);
    else if (at + 8 < end) owned.take(longAt(list, (at += 8)), -entry);
    else throw wrong();
  }
}
