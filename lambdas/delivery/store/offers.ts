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
import { chunksOf } from '../../shared/lists.ts';

export interface Offer {
  readonly accountId: string;
  readonly messageId: string;
  readonly attempt: number;
  readonly key: { readonly owner: string; readonly id: string };
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

/** Reads the offers of a name, strongly consistent, the earliest first, at most `atOnce` of them at once. */
export async function* offersOf(
  accountId: string,
  name: string,
  atOnce: number,
): AsyncGenerator<readonly Offer[]> {
  const owner = ownerOf(accountId, name);
  const pages = queryPages({
    TableName: settings.usageTable,
    ConsistentRead: true,
    Limit: atOnce,
    KeyConditionExpression: '#owner = :owner',
    ExpressionAttributeNames: { '#owner': tables.usage.partitionKey },
    ExpressionAttributeValues: { ':owner': { S: owner } },
  });
  for await (const { Items = [] } of pages)
    for (const some of chunksOf(Items, atOnce))
      yield some.map((item) => {
        const { id, ...offered } = shape.parse(unmarshall(item));
        return { accountId, ...offered, key: { owner, id } };
      });
}

export async function removeOffer({ key }: Offer): Promise<void> {
  await remove(settings.usageTable, key);
}
