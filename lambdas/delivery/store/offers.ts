/**
 * Offers: open attempts of messages that clients take, a partition for each name, the earliest first. An offer only says where
 * to look. The attempt's own row decides who takes it, so an offer of an attempt that was taken or has ended is removed when it
 * is found, or expires.
 */
import * as z from 'zod/mini';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { queryPages } from '../../aws/dynamodb.ts';
import { tables } from '../../aws/resources.ts';
import { settings } from '../../aws/settings.ts';
import { put, remove } from '../../aws/writes.ts';
import { pullNameOf } from '../../destination/pull.ts';
import type { Message, OpenAttempt } from '../../message/message.ts';
import { epochSeconds } from '../../shared/clock.ts';

export interface Offer {
  readonly accountId: string;
  readonly messageId: string;
  readonly attempt: number;
  readonly id: string;
}

/** Account ids contain no `#`. */
const ownerOf = (accountId: string, name: string): string => `pull#${accountId}#${name}`;

/** Digits of Unix milliseconds until the year 33658. */
const digits = 15;

const shape = z.object({ id: z.string(), messageId: z.string(), attempt: z.number() });

/** Offers an open attempt once, also if it is called again. */
export async function putOffer(
  { accountId, messageId, url, expiresAt }: Message,
  open: OpenAttempt,
): Promise<void> {
  await put(settings.usageTable, {
    owner: ownerOf(accountId, pullNameOf(url)),
    id: `${String(open.startedAt).padStart(digits, '0')}#${messageId}#${open.number}`,
    messageId,
    attempt: open.number,
    expiresAt: epochSeconds(expiresAt),
  });
}

/** Reads the offers of a name page by page, the earliest first, strongly consistent. */
export async function* offersOf(
  accountId: string,
  name: string,
  perPage: number,
): AsyncGenerator<readonly Offer[]> {
  const pages = queryPages({
    TableName: settings.usageTable,
    ConsistentRead: true,
    Limit: perPage,
    KeyConditionExpression: '#owner = :owner',
    ExpressionAttributeNames: { '#owner': tables.usage.partitionKey },
    ExpressionAttributeValues: { ':owner': { S: ownerOf(accountId, name) } },
  });
  for await (const { Items = [] } of pages)
    yield Items.map((item) => ({ accountId, ...shape.parse(unmarshall(item)) }));
}

export async function removeOffer({ accountId, id }: Offer, name: string): Promise<void> {
  await remove(settings.usageTable, { owner: ownerOf(accountId, name), id });
}
