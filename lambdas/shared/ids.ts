import { createHash, randomFillSync } from 'node:crypto';
import { decodeTime, ulid } from 'ulid';
import { letters, wideEnd } from './idPattern.ts';

export type IdKind = 'msg' | 'dlq' | 'scd' | 'wfr' | 'blk';

/**
 * The number of partitions for an account's rows. DynamoDB takes 1,000 write units a second for each, and a
 * message needs two. Lists read all partitions, so only accounts with high limits have many.
 */
export const shardCounts = { usual: 8, wide: letters.length } as const;

/** Random letters of an id, one byte each. */
const randomLetters = 16;

/** Random bytes for the next ids. Getting them from the system is the slowest part of making an id. */
const random = Buffer.alloc(64 * randomLetters);
let used = random.length;

/** @returns bytes that do not change until the next call */
function nextRandom(): Buffer {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  used += randomLetters;
  return random.subarray(used - randomLetters, used);
}

/**
 * Makes an id that sorts by time, with at least 75 random bits.
 *
 * @param shards the account's partitions
 */
export function newId(kind: IdKind, time: number, shards: number = shardCounts.usual): string {
  const bytes = nextRandom();
  // A usual id ends in 0 to 7. `charCode % 8` of all 32 letters would fill the partitions unevenly.
  const end =
    shards > shardCounts.usual
      ? wideEnd
      : letters.charAt(bytes.readUInt8(randomLetters - 1) % shardCounts.usual);
  return `${idOf(kind, time, bytes).slice(0, -1)}${end}`;
}

/**
 * Makes an id from a time and a seed. It is as hard to guess as the seed.
 *
 * @param beside an id whose number of partitions is used
 */
export function derivedId(kind: IdKind, time: number, seed: string, beside = ''): string {
  const id = idOf(kind, time, createHash('sha256').update(seed).digest());
  return beside.endsWith(wideEnd) ? `${id.slice(0, -2)}${beside.slice(-2)}` : id;
}

function idOf(kind: IdKind, time: number, bytes: Buffer): string {
  let position = 0;
  const nextFraction = (): number => bytes.readUInt8(position++ % bytes.length) / 256;
  return `${kind}_${ulid(time, nextFraction)}`;
}

/** The time in an id. @throws for an invalid id */
export const timeOfId = (id: string): number => decodeTime(id.slice(id.indexOf('_') + 1));

/**
 * The partition of a row. It follows from the id, so reads by id need no index: with many partitions it is
 * the second last letter, otherwise the last.
 */
export function shardOf(accountId: string, id: string): string {
  const number = id.endsWith(wideEnd)
    ? letters.indexOf(id.slice(-2, -1))
    : id.charCodeAt(id.length - 1) % shardCounts.usual;
  return `${accountId}#${number}`;
}
