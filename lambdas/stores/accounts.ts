/**
 * The accounts table, of which every region has a replica. An account's row is written in its own region only, on what was
 * read there, so that no two regions ever write one row; and it is read there where the latest of it counts.
 */
import { GetItemCommand, paginateScan, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import type { Account } from '../domain/account.ts';
import { dayMs } from '../domain/clock.ts';
import { plans, type LimitName } from '../domain/limits.ts';
import { epochSeconds } from '../domain/message.ts';
import { settings } from '../settings.ts';
import { dynamodbIn, toItem, unlessRefused, type Row } from './dynamodb.ts';

const limit = z.optional(z.number());

const accountRow = z.object({
  id: z.string(),
  customerId: z.optional(z.string()),
  createdBy: z.optional(z.string()),
  plan: z.enum(plans),
  region: z.string(),
  active: z.boolean(),
  state: z.string(),
  stateChangedAt: z.optional(z.number()),
  tokenGeneration: z.number(),
  signingGeneration: z.number(),
  signingSecret: z.optional(z.string()),
  createdAt: z.number(),
  planUpgradedAt: z.optional(z.number()),
  deletedAt: z.optional(z.number()),
  limits: z.object({
    timeout: limit,
    max_message_size: limit,
    max_retries: limit,
    max_delay: limit,
    max_requests_per_day: limit,
    max_requests_per_day_hard: limit,
    max_requests_per_second: limit,
    max_bandwidth_per_second: limit,
    max_dlq_size: limit,
    max_dlq_retention_time_milis: limit,
    max_topics: limit,
    max_endpoints_per_topic: limit,
    max_schedules: limit,
    max_events_size: limit,
    max_parallelism: limit,
    max_global_parallelism: limit,
    max_queues: limit,
  } satisfies Record<LimitName, typeof limit>),
  budget: z._default(z.number(), 0),
  reservedType: z.optional(z.string()),
  reservedPrice: z.optional(z.number()),
  prodPack: z._default(z.boolean(), false),
  prometheus: z._default(z.boolean(), false),
  enterprise: z.optional(z.object({ enabled: z.boolean() })),
  version: z._default(z.number(), 1),
});

const accountOf = (row: Row): Account => accountRow.parse(row);

/**
 * @param consistent whether a change made a moment ago must be seen, as when a token is checked; it costs twice
 * @param region whose replica is read
 * @returns undefined when there is no such account
 */
export async function loadAccount(
  id: string,
  consistent: boolean,
  region: string = settings.region,
): Promise<Account | undefined> {
  const { Item } = await dynamodbIn(region).send(
    new GetItemCommand({
      TableName: settings.accountsTable,
      Key: { id: { S: id } },
      ConsistentRead: consistent,
    }),
  );
  return Item && accountOf(unmarshall(Item));
}

/** How long a deleted account is still shown. */
const deletedShownMs = 90 * dayMs;

/**
 * Writes an account in the place of what was read of it in its region.
 *
 * @param read undefined when there was none
 * @returns false when somebody else changed it meanwhile; nothing is written then
 */
export function saveAccount(account: Account, read: Account | undefined): Promise<boolean> {
  const region = read?.region ?? account.region;
  const expiresAt =
    account.deletedAt === undefined ? undefined : epochSeconds(account.deletedAt + deletedShownMs);
  const condition =
    read === undefined
      ? { ConditionExpression: 'attribute_not_exists(id)' }
      : {
          ConditionExpression:
            '#region = :region AND (#version = :version OR attribute_not_exists(#version))',
          ExpressionAttributeNames: { '#region': 'region', '#version': 'version' },
          ExpressionAttributeValues: { ':region': { S: region }, ':version': { N: String(read.version) } },
        };
  return unlessRefused(
    dynamodbIn(region).send(
      new PutItemCommand({
        TableName: settings.accountsTable,
        Item: toItem({ ...account, expiresAt }),
        ...condition,
      }),
    ),
  );
}

/** The accounts that a region serves, as its own replica has them. */
export async function* accountsOf(region: string, afterId: string | undefined): AsyncGenerator<Account> {
  const pages = paginateScan(
    { client: dynamodbIn(region) },
    {
      TableName: settings.accountsTable,
      ConsistentRead: true,
      FilterExpression: '#region = :region',
      ExpressionAttributeNames: { '#region': 'region' },
      ExpressionAttributeValues: { ':region': { S: region } },
      ...(afterId !== undefined && { ExclusiveStartKey: { id: { S: afterId } } }),
    },
  );
  for await (const { Items = [] } of pages) {
    for (const item of Items) yield accountOf(unmarshall(item));
  }
}
