/**
 * Saves the waiting messages in rows of the usage table, so that a process that starts later reads only what
 * is newer.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as z from 'zod/mini';
import { putAll, queryRows } from '../../aws/dynamodb.ts';
import { settings } from '../../aws/settings.ts';
import type { Readable } from '../../options/option.ts';
import { dayMs, epochSeconds } from '../../shared/clock.ts';
import { bytes } from '../../table/attributes.ts';
import { messageKinds, messageStates } from '../../wire/states.ts';

const text = z.optional(z.string());
const snapshot = z.object({
  /** Everything that was published and recorded before this time is included. */
  until: z.number(),
  subjects: z.array(
    z.object({
      url: z.string(),
      ...{ topicName: text, queueName: text, scheduleId: text, callerIp: text, flowControlKey: text },
      labels: z.optional(z.array(z.string())),
      kind: z.optional(z.enum(messageKinds)),
    }),
  ),
  messages: z.array(
    z.object({
      id: z.string(),
      /** An index of `subjects`. */
      of: z.number(),
      state: z.enum(messageStates),
      attempt: z.number(),
      dueAt: z.number(),
      since: z.number(),
      failedAt: z.optional(z.number()),
      isDebounced: z.optional(z.boolean()),
      expiresAt: z.number(),
    }),
  ),
});
export type Snapshot = Readable<z.infer<typeof snapshot>>;

const part = z.object({ until: z.number(), parts: z.number(), bytes });
/** A row has at most 400 KB. */
const mostBytes = 350_000;
const lifetimeMs = dayMs;

export const ownerOf = (accountId: string): string => `waiting#${accountId}`;

export async function saveSnapshot(accountId: string, saved: Snapshot): Promise<void> {
  const { until } = saved;
  const packed = deflateRawSync(JSON.stringify(saved));
  const parts = Math.ceil(packed.length / mostBytes);
  const rows = Array.from({ length: parts }, (_, number) => ({
    owner: ownerOf(accountId),
    id: String(number).padStart(4, '0'),
    until,
    waiting: saved.messages.length,
    parts,
    bytes: packed.subarray(number * mostBytes, (number + 1) * mostBytes),
    expiresAt: epochSeconds(until + lifetimeMs),
  }));
  await putAll(settings.usageTable, rows);
}

/** @returns undefined if there is no snapshot, or its parts are from different times */
export async function loadSnapshot(accountId: string, now: number): Promise<Snapshot | undefined> {
  const parts: z.infer<typeof part>[] = [];
  const query = {
    TableName: settings.usageTable,
    KeyConditionExpression: '#owner = :owner',
    ExpressionAttributeNames: { '#owner': 'owner' },
    ExpressionAttributeValues: { ':owner': { S: ownerOf(accountId) } },
  };
  for await (const row of queryRows(query)) parts.push(part.parse(row));
  const [first] = parts;
  const own = parts.slice(0, first?.parts);
  const isWhole = own.length === first?.parts && own.every(({ until }) => until === first.until);
  if (first === undefined || !isWhole || first.until < now - lifetimeMs || first.until > now)
    return undefined;
  const packed = Buffer.concat(own.map((one) => one.bytes));
  return snapshot.parse(JSON.parse(inflateRawSync(packed).toString()));
}
