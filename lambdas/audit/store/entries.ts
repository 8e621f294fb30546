/** The rows of the audit trail: in the usage table of the account's region, a partition for each account. */
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import { auditedOwner } from '../../aws/resources.ts';
import { settings } from '../../aws/settings.ts';
import { dynamodbIn, queryRows, toItem } from '../../aws/dynamodb.ts';
import { dayMs, epochSeconds, hourMs, now } from '../../shared/clock.ts';
import { momentsOf, rowsPerRead, type Ordered, type Range } from '../../table/shards.ts';

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
}

/** Where an entry is. */
export interface AuditPlace {
  readonly accountId: string;
  readonly region: string;
  readonly id: string;
}

export interface AuditRow extends AuditEntry, Ordered {
  /** Whether its change was refused. */
  readonly isWithdrawn?: boolean | undefined;
}

/** Digits of Unix milliseconds, so that ids sort by time. */
const timeDigits = 15;
const idAt = (time: number): string => String(time).padStart(timeDigits, '0');
const newIdAt = (time: number): string => `${idAt(time)}#${randomBytes(6).toString('base64url')}`;

/** Sets attributes of an entry, which is made where it is missing. */
async function write({ accountId, region, id }: AuditPlace, attributes: object): Promise<void> {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined);
  await dynamodbIn(region).send(
    new UpdateItemCommand({
      TableName: settings.usageTable,
      Key: toItem({ owner: auditedOwner(accountId), id }),
      UpdateExpression: `SET ${given.map(([name]) => `#${name} = :${name}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(given.map(([name]) => [`#${name}`, name])),
      ExpressionAttributeValues: toItem(
        Object.fromEntries(given.map(([name, value]) => [`:${name}`, value] as const)),
      ),
    }),
  );
}

/** Writes an entry of a change that is about to be made. */
export async function writeEntry(
  { accountId, region }: Omit<AuditPlace, 'id'>,
  entry: AuditEntry,
): Promise<AuditPlace> {
  const time = now();
  const place = { accountId, region, id: newIdAt(time) };
  await write(place, { ...entry, expiresAt: epochSeconds(time + keptMs) });
  return place;
}

/** Adds the subject, which was not known before the change. */
export const nameSubject = (place: AuditPlace, subject: string): Promise<void> => write(place, { subject });

/** Takes an entry back, whose change was refused: lists pass it over, and it expires soon. */
export const withdrawEntry = (place: AuditPlace): Promise<void> =>
  write(place, { isWithdrawn: true, expiresAt: epochSeconds(now() + hourMs) });

const auditRow = z.object({
  id: z.string(),
  // An entry that was taken back without its first write being known has no more than that.
  actor: z._default(z.string(), ''),
  action: z._default(z.string(), ''),
  subject: z.optional(z.string()),
  address: z.optional(z.string()),
  isWithdrawn: z.optional(z.boolean()),
});

/** Lists an account's entries in this region, the newest first, those that were taken back as well. */
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
      ':first': idAt(first),
      // `~` sorts behind every character of an id.
      ':last': `${idAt(Math.min(last, 10 ** timeDigits - 1))}~`,
    }),
    ScanIndexForward: false,
    Limit: rowsPerRead,
  });
  for await (const row of rows) {
    const read = auditRow.parse(row);
    yield { ...read, time: Number(read.id.slice(0, timeDigits)) };
  }
}
