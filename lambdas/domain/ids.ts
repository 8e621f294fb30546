import { createHash, randomBytes } from 'node:crypto';
import { decodeTime, ulid } from 'ulid';

export type IdKind = 'msg' | 'dlq' | 'scd' | 'wfr';

/** The letters of a ULID. */
const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * Partitions for the rows of one account. DynamoDB takes 1,000 write units a second for each, and a message is two of them at
 * least. Each list reads all of them, so an account has few, and many only where its limits allow so much traffic.
 */
export const shardCounts = { usual: 8, wide: letters.length } as const;

/** Letters of an id that do not tell its time, each from a byte. By itself the library asks the system for each one alone. */
const randomLetters = 16;

/**
 * Makes a new id: the time (Unix milliseconds), by which ids are ordered, and 78 random bits.
 *
 * @param shards the partitions that the rows of its account are spread over
 */
export function newId(kind: IdKind, time: number, shards: number = shardCounts.usual): string {
  const bytes = randomBytes(randomLetters);
  return idOf(kind, time, bytes, letterOf(bytes, shards));
}

/**
 * Makes the id of something that must be made once, however often that is tried: the same time (Unix milliseconds) and seed
 * give the same id. It is as unguessable as its seed.
 *
 * @param beside the id of what it follows from: its row is in a partition of the same number
 */
export function derivedId(kind: IdKind, time: number, seed: string, beside?: string): string {
  const bytes = createHash('sha256').update(seed).digest();
  return idOf(kind, time, bytes, beside?.slice(-1) ?? letterOf(bytes, shardCounts.usual));
}

/** The last letter of an id is the number of its partition. */
const letterOf = (bytes: Buffer, shards: number): string =>
  letters.charAt(bytes.readUInt8(randomLetters - 1) % shards);

function idOf(kind: IdKind, time: number, bytes: Buffer, lastLetter: string): string {
  let position = 0;
  const nextFraction = (): number => bytes.readUInt8(position++ % bytes.length) / 256;
  return `${kind}_${ulid(time, nextFraction).slice(0, -1)}${lastLetter}`;
}

/** Reads from an id when it was made, in Unix milliseconds. @throws for a text that is no id */
export const timeOfId = (id: string): number => decodeTime(id.slice(id.indexOf('_') + 1));

/** Finds the partition of an account's row from the id alone, so that a read by id needs no index. */
export const shardOf = (accountId: string, id: string): string =>
  `${accountId}#${letters.indexOf(id.slice(-1))}`;
