import { createHash, randomBytes } from 'node:crypto';
import { decodeTime, ulid } from 'ulid';

export type IdKind = 'msg' | 'dlq' | 'scd' | 'wfr';

/** Partitions for the rows of one account: DynamoDB takes 1,000 writes a second for each. */
export const shardCount = 8;

/** Makes a new id: the time (Unix milliseconds), by which ids are ordered, and 80 random bits. */
export const newId = (kind: IdKind, time: number): string => idOf(kind, time, randomBytes(randomLetters));

/** Letters of an id that do not tell its time, each from a byte. By itself the library asks the system for each one alone. */
const randomLetters = 16;

function idOf(kind: IdKind, time: number, bytes: Buffer): string {
  let position = 0;
  const nextFraction = (): number => bytes.readUInt8(position++ % bytes.length) / 256;
  return `${kind}_${ulid(time, nextFraction)}`;
}

/**
 * Makes the id of something that must be made once, however often that is tried: the same time (Unix milliseconds) and seed
 * give the same id. It is as unguessable as its seed.
 */
export const derivedId = (kind: IdKind, time: number, seed: string): string =>
  idOf(kind, time, createHash('sha256').update(seed).digest());

/** Reads from an id when it was made, in Unix milliseconds. @throws for a text that is no id */
export const timeOfId = (id: string): number => decodeTime(id.slice(id.indexOf('_') + 1));

/** Finds the partition of an account's row from the id alone, so that a read by id needs no index. */
export function shardOf(accountId: string, id: string): string {
  return `${accountId}#${id.charCodeAt(id.length - 1) % shardCount}`;
}
