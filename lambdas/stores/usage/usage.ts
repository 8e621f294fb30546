/** The usage table: what each account used on each day, and failed attempts to log in to the management API. */
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { dayMs, minuteMs } from '../../domain/clock.ts';
import { epochSeconds } from '../../domain/message/message.ts';
import { settings } from '../../settings.ts';
import { dynamodb, dynamodbIn, getRow, queryRows, toItem } from '../dynamodb.ts';

/** An account's use, of a day or of a part of it. */
export interface Usage {
  /** Messages that requests, schedules and retries made: the daily limits count these. */
  readonly requests: number;
  /** All messages, callbacks included: the budget counts these. */
  readonly messages: number;
  /** Requests to the API, of every kind. */
  readonly calls: number;
  /** Of the bodies of requests. */
  readonly bytes: number;
}

const usageRow = z.object({
  id: z.string(),
  requests: z._default(z.number(), 0),
  messages: z._default(z.number(), 0),
  calls: z._default(z.number(), 0),
  bytes: z._default(z.number(), 0),
});

/** A day's row is kept this long: a year of statistics, and a month more. */
const keptMs = 400 * dayMs;

/** @param day as `2026-11-20`, UTC */
const keyOf = (accountId: string, day: string): { readonly owner: string; readonly id: string } => ({
  owner: accountId,
  id: `day#${day}`,
});

/**
 * Adds to an account's use of a day.
 *
 * @returns all that it has used on that day by now
 */
export async function addUsage(accountId: string, day: string, usage: Usage): Promise<Usage> {
  const { Attributes = {} } = await dynamodb.send(
    new UpdateItemCommand({
      TableName: settings.usageTable,
      Key: toItem(keyOf(accountId, day)),
      UpdateExpression:
        'ADD #requests :requests, #messages :messages, #calls :calls, #bytes :bytes SET expiresAt = :expiresAt',
      ExpressionAttributeNames: {
        '#requests': 'requests',
        '#messages': 'messages',
        '#calls': 'calls',
        '#bytes': 'bytes',
      },
      ExpressionAttributeValues: {
        ':requests': { N: String(usage.requests) },
        ':messages': { N: String(usage.messages) },
        ':calls': { N: String(usage.calls) },
        ':bytes': { N: String(usage.bytes) },
        ':expiresAt': { N: String(epochSeconds(Date.parse(day) + keptMs)) },
      },
      ReturnValues: 'ALL_NEW',
    }),
  );
  return usageRow.parse(unmarshall(Attributes));
}

/**
 * Reads an account's use, by day.
 *
 * @param days the beginning of the days to read: `2026-11` for a month
 * @param region the one that the account is served in
 */
export async function usageOf(
  accountId: string,
  days: string,
  region: string = settings.region,
): Promise<ReadonlyMap<string, Usage>> {
  const rows = queryRows(
    {
      TableName: settings.usageTable,
      ConsistentRead: true,
      KeyConditionExpression: '#owner = :owner AND begins_with(id, :days)',
      ExpressionAttributeNames: { '#owner': 'owner' },
      ExpressionAttributeValues: toItem({ ':owner': accountId, ':days': `day#${days}` }),
    },
    dynamodbIn(region),
  );
  const usage = new Map<string, Usage>();
  for await (const row of rows) {
    const { id, ...counts } = usageRow.parse(row);
    usage.set(id.replace('day#', ''), counts);
  }
  return usage;
}

/** Failed logins are counted in periods of this length. */
export const loginMemoryMs = 15 * minuteMs;

const loginKey = (client: string, now: number) => ({
  owner: `login#${client}`,
  id: String(Math.floor(now / loginMemoryMs)),
});

const loginRow = z.object({ failures: z.number() });

/** Counts how often a client failed to log in within the present quarter of an hour. */
export async function failedLogins(client: string, now: number): Promise<number> {
  const row = await getRow(settings.usageTable, loginKey(client, now), true);
  return row === undefined ? 0 : loginRow.parse(row).failures;
}

/**
 * Counts a failed login.
 *
 * @returns the failures within the present quarter of an hour
 */
export async function addFailedLogin(client: string, now: number): Promise<number> {
  const { Attributes = {} } = await dynamodb.send(
    new UpdateItemCommand({
      TableName: settings.usageTable,
      Key: toItem(loginKey(client, now)),
      UpdateExpression: 'ADD failures :one SET expiresAt = :expiresAt',
      ExpressionAttributeValues: {
        ':one': { N: '1' },
        ':expiresAt': { N: String(epochSeconds(now + 2 * loginMemoryMs)) },
      },
      ReturnValues: 'ALL_NEW',
    }),
  );
  return loginRow.parse(unmarshall(Attributes)).failures;
}
