/**
 * The number of dead letters of each account: one row for each account, in the dead letters' table. It counts them by the
 * day (UTC) on which they expire, so that once a day is over, its dead letters are not counted any more, without a write
 * for each. Until then their rows are there, and are the first to go when the queue is trimmed.
 */
import { UpdateItemCommand, type UpdateItemCommandInput, QueryCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { dayMs, epochSeconds } from '../shared/clock.ts';
import { settings } from '../aws/settings.ts';
import { claiming } from '../table/claim.ts';
import {
  conditionalWrite,
  dynamodb,
  getRow,
  updateOnce,
  toItem,
  type Row,
  scanRows,
} from '../aws/dynamodb.ts';

const dayOf = (time: number): number => Math.floor(time / dayMs);

/** Unix milliseconds from which on a dead letter is not counted, whether it was taken out before or not. */
export const countedUntil = (expiresAt: number): number => (dayOf(expiresAt) + 1) * dayMs;

/** The count of a day is an attribute of its own, so that it can be raised without being read. */
const attributeOf = (day: number): string => `d${day}`;
const dayOfAttribute = (name: string): number | undefined => {
  const [, day] = /^d(\d+)$/.exec(name) ?? [];
  return day === undefined ? undefined : Number(day);
};

export interface DeadLetterQueueSize {
  /** Dead letters; those that have expired today are among them. */
  readonly entries: number;
  /** Unix milliseconds at which a process began to trim that has not ended since: it is at work, or has died. */
  readonly trimmedSince: number | undefined;
  /** Ids of dead letters that a process was about to take out: they are not counted any more, but may still be there. */
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

/** Reads how many dead letters an account has, those of workflows' runs included; eventually consistent. */
export async function loadSize(accountId: string, now: number): Promise<number> {
  const row = await getRow(settings.dlqTable, keyOf(accountId), false);
  return row === undefined ? 0 : sizeOf(row, now).entries;
}

/** Longer than a dead letter may be kept (90 days). Each dead letter renews it, so that the row outlives all of them. */
const rowLifetimeMs = 120 * dayMs;

type SizeUpdate = Pick<
  UpdateItemCommandInput,
  'UpdateExpression' | 'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>;

const changeOf = (accountId: string, change: SizeUpdate): UpdateItemCommandInput => ({
  TableName: settings.dlqTable,
  Key: toItem(keyOf(accountId)),
  ReturnValues: 'ALL_NEW',
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  ...change,
});

/**
 * Changes the row of an account.
 *
 * @param isMade whether the row shows that the change was made before: where an answer is lost, the SDK sends the change
 * again, and the second one is refused
 * @returns the row after the change; undefined when its condition did not hold
 */
async function change(
  accountId: string,
  update: SizeUpdate,
  isMade: (row: Row) => boolean = () => false,
): Promise<Row | undefined> {
  const write = await conditionalWrite(dynamodb.send(new UpdateItemCommand(changeOf(accountId, update))));
  return write.isMade || isMade(write.row ?? {}) ? write.row : undefined;
}

/** Makes the part of an update that counts dead letters, by when they expire; those whose day is over do not count. */
function counting(expiries: readonly number[], by: 1 | -1, now: number) {
  const changes = new Map<number, number>();
  for (const expiresAt of expiries) {
    const day = dayOf(expiresAt);
    if (day >= dayOf(now)) changes.set(day, (changes.get(day) ?? 0) + by);
  }
  const days = [...changes.keys()];
  return {
    isEmpty: days.length === 0,
    expression: `ADD ${days.map((day) => `#d${day} :d${day}`).join(', ')}`,
    names: Object.fromEntries(days.map((day) => [`#d${day}`, attributeOf(day)])),
    values: Object.fromEntries([...changes].map(([day, count]) => [`:d${day}`, count])),
  };
}

/**
 * Counts dead letters that came. It is sent once: where its answer is lost, it is unknown whether they were counted. A count
 * that is too low makes the queue longer for a while; one that is too high would cost another dead letter its place.
 *
 * @param expiries when each expires, in Unix milliseconds
 * @param since when this process began to trim, where it counts what it had promised to take out and found gone. Should
 * another process have taken over since, nothing is counted: that one may have taken them out
 * @returns the size after it; undefined when nothing had to be counted
 * @throws when it is not known whether they were counted
 */
export async function countIn(
  accountId: string,
  expiries: readonly number[],
  now: number,
  since?: number,
): Promise<DeadLetterQueueSize | undefined> {
  const counted = countingUpdate(expiries, 1, now);
  if (counted === undefined) return undefined;
  const { ExpressionAttributeValues: values } = counted;
  const owned = since !== undefined && {
    ConditionExpression: 'trimmedSince = :since',
    ExpressionAttributeValues: { ...values, ...toItem({ ':since': since }) },
  };
  const { Attributes = {} } = await updateOnce(changeOf(accountId, { ...counted, ...owned }));
  const row = unmarshall(Attributes);
  await forgetPastDays(accountId, row, now);
  return sizeOf(row, now);
}

/**
 * Counts out dead letters that are about to be taken out.
 *
 * @param expiries when each expires, in Unix milliseconds
 */
export async function countOut(accountId: string, expiries: readonly number[], now: number): Promise<void> {
  const counted = countingUpdate(expiries, -1, now);
  if (counted !== undefined) await change(accountId, counted);
}

function countingUpdate(expiries: readonly number[], by: 1 | -1, now: number): SizeUpdate | undefined {
  const { isEmpty, expression, names, values } = counting(expiries, by, now);
  if (isEmpty) return undefined;
  return {
    UpdateExpression: `${expression} SET expiresAt = :end`,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: toItem({ ...values, ':end': epochSeconds(now + rowLifetimeMs) }),
  };
}

/** Takes the counts of days that are over out of the row, once a day, so that it does not grow. */
async function forgetPastDays(accountId: string, row: Row, now: number): Promise<void> {
  // Yesterday's count stays: clocks differ, and another process may still add to it.
  const past = Object.keys(row).filter((name) => (dayOfAttribute(name) ?? Infinity) < dayOf(now) - 1);
  if (past.length > 0) await change(accountId, { UpdateExpression: `REMOVE ${past.join(', ')}` });
}

/**
 * Claims the trimming of a queue.
 *
 * @param endedBy Unix milliseconds; a process that began at this time or before has died
 * @returns undefined when another process trims it
 */
export async function beginTrimming(
  accountId: string,
  now: number,
  endedBy: number,
): Promise<DeadLetterQueueSize | undefined> {
  const row = await change(accountId, {
    UpdateExpression: 'SET trimmedSince = :now',
    ...claiming({ attribute: 'trimmedSince', endedBy, values: { ':now': now } }),
  });
  return row && sizeOf(row, now);
}

/** A dead letter as the index of those that are there has it. */
export interface PresentDeadLetter {
  readonly dlqId: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/**
 * Writes down which dead letters this process is going to take out, and counts them out. Should it die before it has, the
 * next process that trims takes them out.
 *
 * @param since when this process began to trim
 * @returns undefined when another process has taken over
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
    {
      UpdateExpression: `SET promised = :promised${counted.isEmpty ? '' : ` ${counted.expression}`}`,
      // The SDK sends it again when an answer is lost: they must not be counted twice.
      ConditionExpression:
        'trimmedSince = :since AND (attribute_not_exists(promised) OR promised <> :promised)',
      ...(counted.isEmpty ? {} : { ExpressionAttributeNames: counted.names }),
      ExpressionAttributeValues: toItem({ ...counted.values, ':promised': promised, ':since': since }),
    },
    (made) => sizeRow.parse(made).trimmedSince === since,
  );
  return row && sizeOf(row, now);
}

/**
 * Ends the trimming that this process began, when all it had promised is taken out.
 *
 * @param since when it began
 * @returns the size after it, to be checked again: processes that counted a dead letter meanwhile left the trimming to this
 * one. Undefined when another process has taken over
 */
export async function endTrimming(
  accountId: string,
  since: number,
  now: number,
): Promise<DeadLetterQueueSize | undefined> {
  const row = await change(accountId, {
    UpdateExpression: 'REMOVE trimmedSince, promised',
    ConditionExpression: 'trimmedSince = :since',
    ExpressionAttributeValues: toItem({ ':since': since }),
  });
  return row && sizeOf(row, now);
}

const presentRow = z.object({ id: z.string(), dlqExpiresAt: z.number() });

/**
 * Reads the oldest dead letters of one shard, from an index that has those that are there. It is a moment behind: one that
 * was just taken out may be in it, and one that was just written may not. Those that have expired are in it until DynamoDB
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

/** Counts the dead letters of a region, of all accounts. */
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
