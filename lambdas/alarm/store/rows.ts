/** One row for each account with alarms. They share a partition, so a check finds them with one query. */
import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import * as z from 'zod/mini';
import { tables } from '../../aws/resources.ts';
import { settings } from '../../aws/settings.ts';
import { dynamodb, getRow, rowsOf, toItem, unlessRefused, type Row } from '../../aws/dynamodb.ts';
import type { Shape } from '../../options/option.ts';
import { headerPairs } from '../../table/attributes.ts';
import { alarmFormats, alarmKinds } from '../../wire/alarms.ts';
import type { Alarms, AlarmSettings, Condition, Found, Notice, QuietHours } from '../alarm.ts';

const optionalText = z.optional(z.string());
const optionalFlag = z.optional(z.boolean());

const found = {
  kind: z.enum(alarmKinds),
  subject: z.string(),
  title: z.string(),
  detail: z.string(),
} satisfies Shape<Found>;

const alarmsRow = z.object({
  id: z.string(),
  settings: z.object({
    url: z.string(),
    format: z.enum(alarmFormats),
    routingKey: optionalText,
    headers: headerPairs,
    deadLetters: z.optional(z.object({ above: z.number(), minutes: z.number() })),
    hosts: optionalFlag,
    schedules: optionalFlag,
    runs: optionalFlag,
    limits: z.optional(z.number()),
    quietHours: z.optional(
      z.object({ from: z.string(), to: z.string(), timezone: z.string() } satisfies Shape<QuietHours>),
    ),
  } satisfies Shape<AlarmSettings>),
  seed: z.string(),
  callerIp: z.string(),
  open: z.array(
    z.object({
      ...found,
      openedAt: z.number(),
      isTold: z.boolean(),
      missedSince: z.optional(z.number()),
    } satisfies Shape<Condition>),
  ),
  notices: z.array(
    z.object({
      ...found,
      state: z.enum(['open', 'over']),
      openedAt: z.number(),
      at: z.number(),
    } satisfies Shape<Notice>),
  ),
  toldSince: z.number(),
  version: z.number(),
});

/** Account ids contain no `#`. */
const owner = 'alarms#all';

const keyOf = (accountId: string) => ({ owner, id: accountId });

function alarmsOf(row: Row): Alarms {
  const { id, ...rest } = alarmsRow.parse(row);
  return { ...rest, accountId: id };
}

export async function loadAlarms(accountId: string): Promise<Alarms | undefined> {
  const row = await getRow(settings.usageTable, keyOf(accountId), true);
  return row && alarmsOf(row);
}

export async function* allAlarms(): AsyncGenerator<Alarms> {
  for await (const row of rowsOf({ name: settings.usageTable, ...tables.usage }, owner)) yield alarmsOf(row);
}

/**
 * Replaces the alarms that were read.
 *
 * @param read undefined if there were none
 * @returns false, without a change, if they were changed or deleted since
 */
export function saveAlarms({ accountId, ...rest }: Alarms, read: Alarms | undefined): Promise<boolean> {
  const condition =
    read === undefined
      ? { ConditionExpression: 'attribute_not_exists(id)' }
      : {
          // Alarms that were deleted and set again begin with the same versions.
          ConditionExpression: 'version = :version AND seed = :seed',
          ExpressionAttributeValues: toItem({ ':version': read.version, ':seed': read.seed }),
        };
  return unlessRefused(
    dynamodb.send(
      new PutItemCommand({
        TableName: settings.usageTable,
        Item: toItem({ ...rest, ...keyOf(accountId) }),
        ...condition,
      }),
    ),
  );
}

export async function deleteAlarms(accountId: string): Promise<void> {
  await dynamodb.send(
    new DeleteItemCommand({ TableName: settings.usageTable, Key: toItem(keyOf(accountId)) }),
  );
}
