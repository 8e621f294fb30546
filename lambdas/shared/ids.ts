import { createHash, randomFillSync } from 'node:crypto';
import { decodeTime, ulid } from 'ulid';
import { letters, wideEnd } from './idPattern.ts';

export type IdKind = 'msg' | 'dlq' | 'scd' | 'wfr';

/**
 * Partitions for the rows of one account. DynamoDB takes 1,000 write units a second for each, and a message is two of them at
 * least. Each list reads all of them, so an account has few, and many only where its limits allow so much traffic.
 */
export const shardCounts = { usual: 8, wide: letters.length } as const;

/** Random letters of an id, each made from a byte; the library would ask the system for each byte alone. */
const randomLetters = 16;

/** Random bytes for the next ids. To ask the system costs more than the rest of an id. */
const random = Buffer.alloc(64 * randomLetters);
let used = random.length;

/** @returns bytes that stay the same until the next call */
function nextRandom(): Buffer {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  used += randomLetters;
  return random.subarray(used - randomLetters, used);
}

/**
 * Makes a new id: the time (Unix milliseconds), by which ids are ordered, and at least 75 random bits.
 *
 * @param shards the partitions that the rows of its account are spread over
 */
export function newId(kind: IdKind, time: number, shards: number = shardCounts.usual): string {
  const bytes = nextRandom();
  // A usual id ends in 0 to 7: `charCode % 8` of all 32 letters would fill some of the eight partitions more than others.
  const end =
    shards > shardCounts.usual
      ? wideEnd
      : letters.charAt(bytes.readUInt8(randomLetters - 1) % shardCounts.usual);
  return `${idOf(kind, time, bytes).slice(0, -1)}${end}`;
}

/**
 * Makes the id of something that must be made once, however often that is tried: the same time (Unix milliseconds) and seed
 * give the same id. It is as unguessable as its seed.
 *
 * @param beside the id of what it follows from: where that is in one of many partitions, this is in one of the same number
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

/** Reads the time at which an id was made, in Unix milliseconds. @throws for a text that is no id */
export const timeOfId = (id: string): number => decodeTime(id.slice(id.indexOf('_') + 1));

/**
 * Finds the partition of an account's row from the id alone, so that a read by id needs no index: one of many by the last letter
 * but one, and one of the usual ones by the last.
 */
export function shardOf(accountId: string, id: string): string {
  const number = id.endsWith(wideEnd)
    ? letters.indexOf(id.slice(-2, -1))
    : id.charCodeAt(id.length - 1) % shardCounts.usual;
  return `${accountId}#${number}`;
}
