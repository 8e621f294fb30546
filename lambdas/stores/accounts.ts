import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import type { Account } from '../domain/account.ts';
import { settings } from '../settings.ts';
import { dynamodb, putNew } from './dynamodb.ts';

const accountRow = z.object({
  id: z.string(),
  customerId: z.optional(z.string()),
  plan: z.enum(['free', 'paid']),
  region: z.string(),
  active: z.boolean(),
  state: z.string(),
  tokenGeneration: z.number(),
  signingGeneration: z.number(),
  createdAt: z.number(),
  limits: z.partial(
    z.object({
      timeout: z.number(),
      max_message_size: z.number(),
      max_retries: z.number(),
      max_delay: z.number(),
      max_dlq_retention_time_milis: z.number(),
      max_dlq_size: z.number(),
      max_topics: z.number(),
      max_endpoints_per_topic: z.number(),
      max_schedules: z.number(),
    }),
  ),
});

/**
 * @param consistent whether a change made a moment ago must be seen, as when a token is checked; it costs twice
 * @returns undefined when there is no such account
 */
export async function loadAccount(id: string, consistent: boolean): Promise<Account | undefined> {
  const { Item } = await dynamodb.send(
    new GetItemCommand({
      TableName: settings.accountsTable,
      Key: { id: { S: id } },
      ConsistentRead: consistent,
    }),
  );
  if (Item === undefined) return undefined;
  const row = accountRow.parse(unmarshall(Item));
  return { ...row, customerId: row.customerId };
}

/** @returns whether it was written: false when the id is taken */
export const createAccount = (account: Account): Promise<boolean> =>
  putNew(settings.accountsTable, 'id', account);
