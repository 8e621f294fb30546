import { createHash } from 'node:crypto';
import { decodeTime, ulid } from 'ulid';

export type IdKind = 'msg' | 'dlq' | 'scd';

/** Partitions that one account's rows are spread over, so that DynamoDB's 1,000 writes a second for each add up. */
export const shardCount = 8;

/** A new id: ordered by time (in milliseconds), with 80 random bits behind it. */
export const newId = (kind: IdKind, time: number): string => `${kind}_${ulid(time)}`;

/**
 * The id of something that must be made once however often its making is tried: the same time (Unix
 * milliseconds) and seed give the same id. It is as unguessable as its seed.
 */
export function derivedId(kind: IdKind, time: number, seed: string): string {
  const bytes = createHash('sha256').update(seed).digest();
  let position = 0;
  const nextFraction = (): number => bytes.readUInt8(position++ % bytes.length) / 256;
  return `${kind}_${ulid(time, nextFraction)}`;
}

/** Unix milliseconds at which the id was made; throws on what is no id. */
export const timeOfId = (id: string): number => decodeTime(id.slice(id.indexOf('_') + 1));

/** The partition of an account's row: found from the id alone, so that a read by id needs no index. */
export function shardOf(accountId: string, id: string): string {
  return `${accountId}#${id.charCodeAt(id.length - 1) % shardCount}`;
}
