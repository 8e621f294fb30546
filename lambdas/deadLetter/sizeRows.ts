/**
 * Counts dead letters in a row for each account, by expiry day (UTC), so that expired dead letters stop counting without
 * writes.
 */
import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { dayMs, epochSeconds } from '../shared/clock.ts';
import { settings } from '../aws/settings.ts';
import { claiming } from '../table/claim.ts';
import { dynamodb, getRow, updateOnce, type Row, scanRows } from '../aws/dynamodb.ts';
import { update, updateInput, type Terms } from '../aws/writes.ts';

const dayOf = (time: number): number => Math.floor(time / dayMs);

/** A dead letter stops counting at the end of the day (UTC) on which it expires. */
export const countedUntil = (expiresAt: number): number => (dayOf(expiresAt) + 1) * dayMs;

/** The counter of a day, an attribute that is incremented without a read. */
const attributeOf = (day: number): string => `d${day}`;
const dayOfAttribute = (name: string): number | undefined => {
  const [, day] = /^d(\d+)$/.exec(name) ?? [];
  return day === undefined ? undefined : Number(day);
};

export interface DeadLetterQueueSize {
  /** The number of dead letters, including those that expired today. */
  readonly entries: number;
  /** When the unfinished trim started. Its process is working or dead. */
  readonly trimmedSince: number | undefined;
  /** Dead letters that a trim is removing: no longer counted, but perhaps not yet removed. */
  readonly promised: readonly string[];
}

const sizeRow = z.object({
  trimmedSince: z.optional(z.number()),
  promised: z._default(z.array(z.string()), []),
});

function sizeOf(row: Row, now: number): DeadLetterQueueSize {
  const counts = Object.entries(row).map(([name, value]) => {
    const day = dayOfAttribute(name);
    return day === undefined || day < dayOf(now) ? 0 : z.number().parse(value);
  });
  const { trimmedSince, promised } = sizeRow.parse(row);
  return { entries: counts.reduce((sum, count) => sum + count, 0), trimmedSince, promised };
}

const keyOf = (accountId: string) => ({ shard: `size#${accountId}`, id: 'size' });

/** Runs are included; eventually consistent. */
export async function loadSize(accountId: string, now: number): Promise<number> {
  const row = await getRow(settings.dlqTable, keyOf(accountId), false);
  return row === undefined ? 0 : sizeOf(row, now).entries;
}

/** How long the counts are kept. Dead letters are kept for at most 90 days. */
const rowLifetimeMs = 120 * dayMs;

/**
 * @param isMade whether the row shows that the change was made. The SDK repeats unanswered writes, and the
 * repetition is refused
 * @returns the row afterwards; undefined if its condition failed
 */
async function change(
  accountId: string,
  expression: string,
  terms: Terms,
  isMade: (row: Row) => boolean = () => false,
): Promise<Row | undefined> {
  const write = await update(settings.dlqTable, keyOf(accountId), expression, {
    returns: 'ALL_NEW',
    ...terms,
  });
  return write.isMade || isMade(write.row ?? {}) ? write.row : undefined;
}

/** Makes the update that adds to the counters of the expiry days. Past days are left out. */
function counting(expiries: readonly number[], by: 1 | -1, now: number) {
  const changes = new Map<number, number>();
  for (const expiresAt of expiries) {
    const day = dayOf(expiresAt);
    if (day >= dayOf(now)) changes.set(day, (changes.get(day) ?? 0) + by);
  }
  const days = [...changes.keys()];
  return {
    isEmpty: days.length === 0,
    expression: `ADD ${days.map((day) => `${attributeOf(day)} :${attributeOf(day)}`).join(', ')}`,
    values: Object.fromEntries([...changes].map(([day, count]) => [attributeOf(day), count])),
  };
}

/**
 * Adds dead letters. Sent only once, because too high a count would trim another dead letter early.
 *
 * @param expiries Unix milliseconds
 * @param since when this process began to trim, if it did. Nothing is counted if another process has taken
 * over the trim since
 * @returns the new size; undefined if nothing was counted
 * @throws if it is unknown whether they were counted
 */
export async function countIn(
  accountId: string,
  expiries: readonly number[],
  now: number,
  since?: number,
): Promise<DeadLetterQueueSize | undefined> {
  const { isEmpty, expression, values } = counting(expiries, 1, now);
  if (isEmpty) return undefined;
  const { Attributes = {} } = await updateOnce(
    updateInput(settings.dlqTable, keyOf(accountId), `${expression} SET expiresAt = :end`, {
      onlyIf: since === undefined ? undefined : 'trimmedSince = :since',
      values: { ...values, since, end: epochSeconds(now + rowLifetimeMs) },
      returns: 'ALL_NEW',
    }),
  );
  const row = unmarshall(Attributes);
  await forgetPastDays(accountId, row, now);
  return sizeOf(row, now);
}

/**
 * Subtracts dead letters before their removal.
 *
 * @param expiries Unix milliseconds
 */
export async function countOut(accountId: string, expiries: readonly number[], now: number): Promise<void> {
  const { isEmpty, expression, values } = counting(expiries, -1, now);
  if (isEmpty) return;
  await change(accountId, `${expression} SET expiresAt = :end`, {
    values: { ...values, end: epochSeconds(now + rowLifetimeMs) },
  });
}

/** Removes the counters of past days, once a day. */
async function forgetPastDays(accountId: string, row: Row, now: number): Promise<void> {
  // Yesterday's counter is kept, because another process's clock may still be at yesterday.
  const past = Object.keys(row).filter((name) => (dayOfAttribute(name) ?? Infinity) < dayOf(now) - 1);
  if (past.length > 0) await change(accountId, `REMOVE ${past.join(', ')}`, {});
}

/**
 * @param endedBy Unix milliseconds; a trim that began before this is of a process that died
 * @returns undefined if another process trims the queue
 */
export async function beginTrimming(
  accountId: string,
  now: number,
  endedBy: number,
): Promise<DeadLetterQueueSize | undefined> {
  const row = await change(
    accountId,
    'SET trimmedSince = :now',
    claiming({ attribute: 'trimmedSince', endedBy, values: { now } }),
  );
  return row && sizeOf(row, now);
}

export interface PresentDeadLetter {
  readonly dlqId: string;
  readonly expiresAt: number;
}

/**
 * Notes which dead letters this process will remove, and subtracts them. If it dies first, the next trim removes them.
 *
 * @param since when this process began to trim
 * @returns undefined if another process took over
 */
export async function promiseRemoval(
  accountId: string,
  since: number,
  entries: readonly PresentDeadLetter[],
  now: number,
): Promise<DeadLetterQueueSize | undefined> {
  const counted = counting(
    entries.map(({ expiresAt }) => expiresAt),
    -1,
    now,
  );
  const promised = entries.map(({ dlqId }) => dlqId);
  const row = await change(
    accountId,
    `SET promised = :promised${counted.isEmpty ? '' : ` ${counted.expression}`}`,
    {
      // If the SDK repeats the write, the dead letters must not be subtracted twice.
      onlyIf: 'trimmedSince = :since AND (attribute_not_exists(promised) OR promised <> :promised)',
      values: { ...counted.values, promised, since },
    },
    (made) => sizeRow.parse(made).trimmedSince === since,
  );
  return row && sizeOf(row, now);
}

/**
 * Ends a trim, after the noted dead letters are removed.
 *
 * @param since when this process began to trim
 * @returns the size, to check it again: other processes did not trim in this time. Undefined if another
 * process took over
 */
export async function endTrimming(
  accountId: string,
  since: number,
  now: number,
): Promise<DeadLetterQueueSize | undefined> {
  const row = await change(accountId, 'REMOVE trimmedSince, promised', {
    onlyIf: 'trimmedSince = :since',
    values: { since },
  });
  return row && sizeOf(row, now);
}

const presentRow = z.object({ id: z.string(), dlqExpiresAt: z.number() });

/**
 * Reads the oldest dead letters from an index, which lags slightly. It may show expired ones until DynamoDB
 * removes them.
 */
export async function oldestDeadLetters(shard: string, count: number): Promise<readonly PresentDeadLetter[]> {
  const { Items = [] } = await dynamodb.send(
    new QueryCommand({
      TableName: settings.dlqTable,
      IndexName: 'present',
      KeyConditionExpression: '#shard = :shard',
      ExpressionAttributeNames: { '#shard': 'shard' },
      ExpressionAttributeValues: { ':shard': { S: shard } },
      Limit: count,
    }),
  );
  return Items.map((item) => {
    const { id, dlqExpiresAt } = presentRow.parse(unmarshall(item));
    return { dlqId: id, expiresAt: dlqExpiresAt };
  });
}

export async function countPresent(): Promise<number> {
  const rows = scanRows({
    TableName: settings.dlqTable,
    FilterExpression: 'attribute_exists(presentSince)',
    ProjectionExpression: 'id',
  });
  let count = 0;
  for await (const row of rows) count += 'id' in row ? 1 : 0;
  return count;
}
