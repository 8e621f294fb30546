/**
 * Offers: open attempts of messages that clients take, a partition for each name, the earliest first. An offer only says where
 * to look. The attempt's own row decides who takes it, so an offer of an attempt that was taken or has ended is removed when it
 * is found, or expires.
 */
import * as z from 'zod/mini';
import { queryRows } from '../../aws/dynamodb.ts';
import { tables } from '../../aws/resources.ts';
import { settings } from '../../aws/settings.ts';
import { put, remove } from '../../aws/writes.ts';
import { pullNameOf, pullOf } from '../../destination/pull.ts';
import type { Message, OpenAttempt } from '../../message/message.ts';
import { epochSeconds, now } from '../../shared/clock.ts';

/** Labels and group are those by which a person holds deliveries. Offers of earlier versions have none. */
const shape = z.object({
  id: z.string(),
  messageId: z.string(),
  attempt: z.number(),
  labels: z._default(z.array(z.string()), []),
  topicName: z.optional(z.string()),
});

export interface Offer extends Readonly<Omit<z.infer<typeof shape>, 'id'>> {
  readonly accountId: string;
  readonly url: string;
  readonly key: { readonly owner: string; readonly id: string };
}

/** Account ids contain no `#`. */
const ownerOf = (accountId: string, name: string): string => `pull#${accountId}#${name}`;

/** Digits of Unix milliseconds until the year 33658. */
const digits = 15;

/** DynamoDB bills as many offers as fit into 4 KB like one. Later reads are larger. */
const firstRead = 20;

/** A look reads for this time (ms) at most: it has to answer. Offers behind more held ones are found after the release. */
const longestReadMs = 5_000;

/** Offers an open attempt once, also if it is called again. */
export async function putOffer(
  { accountId, messageId, url, labels, topicName, expiresAt }: Message,
  open: OpenAttempt,
): Promise<void> {
  await put(settings.usageTable, {
    owner: ownerOf(accountId, pullNameOf(url)),
    id: `${String(open.startedAt).padStart(digits, '0')}#${messageId}#${open.number}`,
    messageId,
    attempt: open.number,
    labels,
    topicName,
    expiresAt: epochSeconds(expiresAt),
  });
}

/** Reads the offers of a name, strongly consistent, the earliest first. */
export async function* offersOf(accountId: string, name: string): AsyncGenerator<Offer> {
  const owner = ownerOf(accountId, name);
  const query = {
    TableName: settings.usageTable,
    ConsistentRead: true,
    Limit: firstRead,
    KeyConditionExpression: '#owner = :owner',
    ExpressionAttributeNames: { '#owner': tables.usage.partitionKey },
    ExpressionAttributeValues: { ':owner': { S: owner } },
  };
  const rows = queryRows(query, undefined, now() + longestReadMs);
  for await (const row of rows) {
    const { id, ...offered } = shape.parse(row);
    yield { accountId, url: pullOf(name), ...offered, key: { owner, id } };
  }
}

export async function removeOffer({ key }: Offer): Promise<void> {
  await remove(settings.usageTable, key);
}
