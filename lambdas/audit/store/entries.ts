/** The rows of the audit trail: in the usage table of the account's region, a partition for each account. */
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { createHash, randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { auditedOwner } from '../../aws/resources.ts';
import { settings } from '../../aws/settings.ts';
import { dynamodbIn, queryRows, toItem, unlessRefused } from '../../aws/dynamodb.ts';
import { dayMs, dayOf, epochSeconds, minuteMs, now } from '../../shared/clock.ts';
import { joinedChanges, formatChanges, parseChanges, type Changes } from '../changes.ts';
import { byAge, momentsOf, rowsPerRead, type Ordered, type Range } from '../../table/shards.ts';

/** Entries are kept, and shown, this long. */
export const keptMs = 90 * dayMs;

/** An entry of the audit trail says who did what to which thing. */
export interface AuditEntry {
  /** `token`, `readOnlyToken`, the id of a named token, or `operator`. */
  readonly actor: string;
  readonly action: string;
  readonly subject?: string | undefined;
  /** The address that the request came from. */
  readonly address?: string | undefined;
  readonly changes?: Changes | undefined;
}

/** Where an entry is. */
export interface AuditPlace {
  readonly accountId: string;
  readonly region: string;
  readonly id: string;
}

export interface AuditRow extends AuditEntry, Ordered {
  /** How many times the change was made within that minute; 0 if it was refused. */
  readonly count: number;
  readonly number?: number | undefined;
}

/** Facts about a change that are known only after it. */
export interface Finished {
  readonly subject?: string | undefined;
  readonly changes?: Changes | undefined;
  /** How many messages, dead letters or runs it took. */
  readonly number?: number | undefined;
}

/** Digits of Unix milliseconds, so that ids sort by time. */
const timeDigits = 15;
const idAt = (time: number): string => String(time).padStart(timeDigits, '0');
const minuteOf = (time: number): number => Math.floor(time / minuteMs) * minuteMs;

/** Repetitions of one actor, action and subject within a minute have one id. A subject that is not known yet is another each time. */
function idOf(time: number, { actor, action, subject = randomUUID() }: AuditEntry): string {
  const what = createHash('sha256').update(JSON.stringify([actor, action, subject]));
  return `${idAt(minuteOf(time))}#${what.digest('base64url').slice(0, 16)}`;
}

/** The attributes of an entry that repetitions do not set again. */
const first: ReadonlySet<string> = new Set(['at', 'changes']);

/** Repetitions keep the changes of the first, for its values before, and of the last, for its values after. */
const changesOf = (changes: Changes = []) => {
  const text = formatChanges(changes);
  return { changes: text, lastChanges: text };
};

/** Counts an entry up or down, and sets attributes of it. It is made where it is missing. */
async function write(
  { accountId, region, id }: AuditPlace,
  counted: 1 | -1 | 0,
  attributes: Readonly<Record<string, string | number | undefined>>,
  number?: number,
): Promise<number> {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined);
  const sets = given.map(
    ([name]) => `#${name} = ${first.has(name) ? `if_not_exists(#${name}, :${name})` : `:${name}`}`,
  );
  const adds = ['#count :counted', ...(number === undefined ? [] : ['#number :number'])];
  const { Attributes } = await dynamodbIn(region).send(
    new UpdateItemCommand({
      TableName: settings.usageTable,
      Key: toItem({ owner: auditedOwner(accountId), id }),
      UpdateExpression: `${sets.length === 0 ? '' : `SET ${sets.join(', ')} `}ADD ${adds.join(', ')}`,
      ExpressionAttributeNames: {
        '#count': 'count',
        ...(number !== undefined && { '#number': 'number' }),
        ...Object.fromEntries(given.map(([name]) => [`#${name}`, name])),
      },
      ExpressionAttributeValues: toItem({
        ':counted': counted,
        ...(number !== undefined && { ':number': number }),
        ...Object.fromEntries(given.map(([name, value]) => [`:${name}`, value] as const)),
      }),
      ReturnValues: 'UPDATED_NEW',
    }),
  );
  return countRow.parse(Attributes === undefined ? {} : unmarshall(Attributes)).count;
}

const countRow = z.object({ count: z._default(z.number(), 1) });

/**
 * Writes an entry of a change that is about to be made, or counts one of this minute up.
 *
 * @returns its place, and whether it is new
 */
export async function writeEntry(
  { accountId, region }: Omit<AuditPlace, 'id'>,
  entry: AuditEntry,
): Promise<{ readonly place: AuditPlace; readonly isNew: boolean }> {
  const time = now();
  const place = { accountId, region, id: idOf(time, entry) };
  const { actor, action, subject, address, changes } = entry;
  const count = await write(place, 1, {
    ...{ actor, action, subject, address, ...changesOf(changes) },
    at: time,
    expiresAt: epochSeconds(time + keptMs),
  });
  return { place, isNew: count === 1 };
}

/** Adds to an entry what was not known before the change. */
export async function finishEntry(place: AuditPlace, { subject, changes, number }: Finished): Promise<void> {
  await write(place, 0, { subject, ...changesOf(changes) }, number);
}

/** Takes back one change of an entry, which was refused. Lists skip an entry with none left. */
export async function withdrawEntry(place: AuditPlace): Promise<void> {
  await write(place, -1, {});
}

/** Entries that an account's own tokens may add in a day: the row of the day counts them. */
export async function countNewEntry(
  { accountId, region }: Omit<AuditPlace, 'id'>,
  mostPerDay: number,
): Promise<boolean> {
  const time = now();
  return unlessRefused(
    dynamodbIn(region).send(
      new UpdateItemCommand({
        TableName: settings.usageTable,
        Key: toItem({ owner: auditedOwner(accountId), id: `day#${dayOf(time)}` }),
        UpdateExpression: 'ADD entries :one SET expiresAt = :expiresAt',
        ConditionExpression: 'attribute_not_exists(entries) OR entries < :most',
        ExpressionAttributeValues: toItem({
          ':one': 1,
          ':most': mostPerDay,
          ':expiresAt': epochSeconds(time + 2 * dayMs),
        }),
      }),
    ),
  );
}

const auditRow = z.object({
  id: z.string(),
  // An entry that was withdrawn before its first write was known has only this.
  actor: z._default(z.string(), ''),
  action: z._default(z.string(), ''),
  subject: z.optional(z.string()),
  address: z.optional(z.string()),
  at: z.optional(z.number()),
  count: z._default(z.number(), 1),
  changes: z.optional(z.string()),
  lastChanges: z.optional(z.string()),
  number: z.optional(z.number()),
  /** Written by older releases: whether the change was refused. */
  isWithdrawn: z.optional(z.boolean()),
});

/**
 * Lists an account's entries in this region, the newest first, those that were taken back as well. Those of one minute are read
 * together, because their ids do not tell their order.
 */
export async function* listEntries(accountId: string, range: Range): AsyncGenerator<AuditRow> {
  const { first, last } = momentsOf({ ...range, fromDate: Math.max(range.fromDate ?? 0, now() - keptMs) });
  if (first > last) return;
  const rows = queryRows({
    TableName: settings.usageTable,
    ConsistentRead: true,
    KeyConditionExpression: '#owner = :owner AND id BETWEEN :first AND :last',
    ExpressionAttributeNames: { '#owner': 'owner' },
    ExpressionAttributeValues: toItem({
      ':owner': auditedOwner(accountId),
      ':first': idAt(minuteOf(first)),
      // `~` sorts behind every character of an id.
      ':last': `${idAt(Math.min(last, 10 ** timeDigits - 1))}~`,
    }),
    ScanIndexForward: false,
    Limit: rowsPerRead,
  });
  let minute: AuditRow[] = [];
  const inMinute = (): readonly AuditRow[] =>
    minute.filter(({ time }) => time >= first && time <= last).sort(byAge);
  for await (const row of rows) {
    const { at, isWithdrawn, count, changes, lastChanges, ...read } = auditRow.parse(row);
    const time = at ?? Number(read.id.slice(0, timeDigits));
    if (minute[0] !== undefined && minuteOf(minute[0].time) !== minuteOf(time)) {
      yield* inMinute();
      minute = [];
    }
    minute.push({
      ...read,
      time,
      count: isWithdrawn === true ? 0 : count,
      changes: joinedChanges(parseChanges(changes), parseChanges(lastChanges)),
    });
  }
  yield* inMinute();
}
