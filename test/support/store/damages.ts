/** Files of a store, and damage that disks may cause. */
import { randomOf } from '../simulatedClock.ts';

export interface Version {
  readonly bytes: Buffer;
  readonly digest: string;
}

const pageBytes = 4_096;
const sectorBytes = 512;

type Random = () => number;
const below = (random: Random, end: number): number => Math.floor(random() * end);
const pagesOf = (bytes: Buffer): number => Math.floor(bytes.length / pageBytes);

/** Chooses a page. Overflow pages are chosen less often, because there are many. */
function somePage(bytes: Buffer, random: Random): number {
  for (let trial = 0; trial < 8; trial += 1) {
    const page = below(random, pagesOf(bytes));
    const start = page * pageBytes;
    const isOfTree = bytes.readUInt32LE(start) === page && (bytes[start + 18] ?? 0) !== 4;
    if (isOfTree) return random() < 0.1 ? below(random, 2) : page;
  }
  return below(random, pagesOf(bytes));
}

function someByte(bytes: Buffer, random: Random): number {
  const isOfHeader = random() < 0.4;
  return somePage(bytes, random) * pageBytes + below(random, isOfHeader ? 176 : pageBytes);
}

const pageOf = (bytes: Buffer, page: number): Buffer =>
  bytes.subarray(page * pageBytes, (page + 1) * pageBytes);

function newerMeta(bytes: Buffer): number {
  return bytes.readUInt32LE(152) > bytes.readUInt32LE(pageBytes + 152) ? 0 : 1;
}

/** Damages a copy of the last version. */
type Damage = (bytes: Buffer, random: Random, earlier: readonly Version[]) => Buffer;

const older = (earlier: readonly Version[], random: Random): Buffer =>
  earlier[below(random, earlier.length)]?.bytes ?? Buffer.alloc(0);

export const damages = {
  bit: (bytes, random) => {
    const at = someByte(bytes, random);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << below(random, 8));
    return bytes;
  },
  byte: (bytes, random) => {
    bytes[someByte(bytes, random)] = below(random, 256);
    return bytes;
  },
  zeroedPage: (bytes, random) => {
    pageOf(bytes, somePage(bytes, random)).fill(0);
    return bytes;
  },
  zeroedSector: (bytes, random) => {
    const at = someByte(bytes, random);
    bytes.fill(0, at - (at % sectorBytes), at - (at % sectorBytes) + sectorBytes);
    return bytes;
  },
  otherPage: (bytes, random) => {
    const page = Buffer.from(pageOf(bytes, somePage(bytes, random)));
    pageOf(bytes, somePage(bytes, random)).set(page);
    return bytes;
  },
  lostPage: (bytes, random, earlier) => {
    // A lost write of a page that was new in its version, if there is one.
    const before = older(earlier, random);
    for (let trial = 0; trial < 100; trial += 1) {
      const page = below(random, pagesOf(before));
      if (page < 2 || pageOf(before, page).equals(pageOf(bytes, page))) continue;
      pageOf(bytes, page).set(pageOf(before, page));
      break;
    }
    return bytes;
  },
  lostSector: (bytes, random, earlier) => {
    const before = older(earlier, random);
    // Other damages change the first two pages.
    const first = 2 * pageBytes;
    const at = first + below(random, Math.floor((before.length - first) / sectorBytes)) * sectorBytes;
    bytes.set(before.subarray(at, at + sectorBytes), at);
    return bytes;
  },
  cutAtPage: (bytes, random) => bytes.subarray(0, below(random, pagesOf(bytes)) * pageBytes),
  cutAtByte: (bytes, random) => bytes.subarray(0, below(random, bytes.length)),
  emptied: () => Buffer.alloc(0),
  swappedMetas: (bytes) => {
    const first = Buffer.from(pageOf(bytes, 0));
    pageOf(bytes, 0).set(pageOf(bytes, 1));
    pageOf(bytes, 1).set(first);
    return bytes;
  },
  /** The newer meta page has its previous content: a transaction is lost. */
  lostTransaction: (bytes, _random, earlier) => {
    const page = newerMeta(bytes);
    pageOf(bytes, page).set(pageOf(earlier.at(-2)?.bytes ?? bytes, page));
    return bytes;
  },
  oldMeta: (bytes, random, earlier) => {
    const page = below(random, 2);
    // The page's content from before the previous transaction.
    const before = older(earlier.slice(0, -3), random);
    pageOf(bytes, page).set(pageOf(before, page));
    return bytes;
  },
} as const satisfies Readonly<Record<string, Damage>>;

export type DamageName = keyof typeof damages;

/** @param versions the files after each transaction; the last one is damaged */
export function damaged(name: DamageName, versions: readonly Version[], seed: number): Buffer {
  const damage: Damage = damages[name];
  return damage(
    Buffer.from(versions.at(-1)?.bytes ?? Buffer.alloc(0)),
    randomOf(seed),
    versions.slice(0, -1),
  );
}
