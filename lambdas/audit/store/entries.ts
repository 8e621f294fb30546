/** Entries of the audit trail, in the usage table of the account's region. Each account has a partition. */
import { createHash, randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { auditedOwner } from '../../aws/resources.ts';
import { settings } from '../../aws/settings.ts';
import { dynamodbIn, queryRows, toItem } from '../../aws/dynamodb.ts';
import { dayMs, dayOf, epochSeconds, minuteMs, now } from '../../shared/clock.ts';
import { joinedChanges, formatChanges, parseChanges, type Changes } from '../changes.ts';
import { byAge, momentsOf, rowsPerRead, type Ordered, type Range } from '../../table/shards.ts';
import { update, unlessRefused } from '../../aws/writes.ts';

/** Entries are kept and shown this long. */
const keptMs = 90 * dayMs;

export interface AuditEntry {
  /** `token`, `readOnlyToken`, the id of a named token, or `operator`. */
  readonly actor: string;
  readonly action: string;
  readonly subject?: string | undefined;
  /** The address from which the request came. */
  readonly address?: string | undefined;
  readonly changes?: Changes | undefined;
}

export interface AuditPlace {
  readonly accountId: string;
  readonly region: string;
  readonly id: string;
}

export interface AuditRow extends AuditEntry, Ordered {
  /** How often the change was made within its minute; 0 if it was refused. */
  readonly count: number;
  readonly number?: number | undefined;
}

/** Details of a change that are known only when it is made. */
export interface Finished {
  readonly subject?: string | undefined;
  readonly changes?: Changes | undefined;
  /** The number of changed messages, dead letters or runs. */
  readonly number?: number | undefined;
}

/** Times have this many digits, so that ids sort by time. */
const timeDigits = 15;
const idAt = (time: number): string => String(time).padStart(timeDigits, '0');
const minuteOf = (time: number): number => Math.floor(time / minuteMs) * minuteMs;

/**
 * Changes with the same actor, action and subject within a minute have one id. If the subject is unknown,
 * each has its own.
 */
function idOf(time: number, { actor, action, subject = randomUUID() }: AuditEntry): string {
  const what = createHash('sha256').update(JSON.stringify([actor, action, subject]));
  return `${idAt(minuteOf(time))}#${what.digest('base64url').slice(0, 16)}`;
}

const first: ReadonlySet<string> = new Set(['at', 'changes']);

/** The values before come from the first change in the minute, the values after from the last. */
const changesOf = (changes: Changes = []) => {
  const text = formatChanges(changes);
  return { changes: text, lastChanges: text };
};

/** Adds to an entry's count and sets its attributes. If it does not exist, creates it. */
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
  const { row } = await update(
    settings.usageTable,
    { owner: auditedOwner(accountId), id },
    `${sets.length === 0 ? '' : `SET ${sets.join(', ')} `}ADD ${adds.join(', ')}`,
    { values: { counted, number, ...Object.fromEntries(given) }, returns: 'UPDATED_NEW' },
    dynamodbIn(region),
  );
  return countRow.parse(row ?? {}).count;
}

const countRow = z.object({ count: z._default(z.number(), 1) });

/**
 * Writes the entry of a change that is about to be made; if it repeats one of this minute, counts it.
 *
 * @returns the entry's place, and whether it is new
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

export async function finishEntry(place: AuditPlace, { subject, changes, number }: Finished): Promise<void> {
  await write(place, 0, { subject, ...changesOf(changes) }, number);
}

/** Withdraws one refused change from an entry. Lists skip entries with a count of 0. */
export async function withdrawEntry(place: AuditPlace): Promise<void> {
  await write(place, -1, {});
}

/** Counts the entries that an account's own tokens add in a day. */
export async function countNewEntry(
  { accountId, region }: Omit<AuditPlace, 'id'>,
  mostPerDay: number,
): Promise<boolean> {
  const time = now();
  return unlessRefused(
    update(
      settings.usageTable,
      { owner: auditedOwner(accountId), id: `day#${dayOf(time)}` },
      'ADD entries :one SET expiresAt = :expiresAt',
      {
        onlyIf: 'attribute_not_exists(entries) OR entries < :most',
        values: { one: 1, most: mostPerDay, expiresAt: epochSeconds(time + 2 * dayMs) },
      },
      dynamodbIn(region),
    ),
  );
}

const auditRow = z.object({
  id: z.string(),
  // Missing if the entry was withdrawn before it was written, because an answer was lost.
  actor: z._default(z.string(), ''),
  action: z._default(z.string(), ''),
  subject: z.optional(z.string()),
  address: z.optional(z.string()),
  at: z.optional(z.number()),
  count: z._default(z.number(), 1),
  changes: z.optional(z.string()),
  lastChanges: z.optional(z.string()),
  number: z.optional(z.number()),
});

/**
 * Lists an account's entries in this region, newest first, including withdrawn ones. The entries of a minute
 * are read together, because their ids do not show their order.
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
      // `~` sorts after every character of an id.
      ':last': `${idAt(Math.min(last, 10 ** timeDigits - 1))}~`,
    }),
    ScanIndexForward: false,
    Limit: rowsPerRead,
  });
  let minute: AuditRow[] = [];
  const inMinute = (): readonly AuditRow[] =>
    minute.filter(({ time }) => time >= first && time <= last).sort(byAge);
  for await (const row of rows) {
    const { at, count, changes, lastChanges, ...read } = auditRow.parse(row);
    const time = at ?? Number(read.id.slice(0, timeDigits));
    if (minute[0] !== undefined && minuteOf(minute[0].time) !== minuteOf(time)) {
      yield* inMinute();
      minute = [];
    }
    minute.push({
      ...read,
      time,
      count,
      changes: joinedChanges(parseChanges(changes), parseChanges(lastChanges)),
    });
  }
  yield* inMinute();
}
