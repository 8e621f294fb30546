/** Schedules, and which of their fires were handled. */
import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { dayMs } from '../domain/clock.ts';
import { epochSeconds } from '../domain/message.ts';
import type { LastFire, Schedule } from '../domain/schedule.ts';
import { settings } from '../settings.ts';
import { storedBody, type StoredBody } from './bodies.ts';
import { dynamodb, getRow, rowsOf, toItem, unlessRefused, type Row } from './dynamodb.ts';

const pairs = z.array(z.tuple([z.string(), z.string()]));

const scheduleRow = z.object({
  owner: z.string(),
  id: z.string(),
  saveId: z.string(),
  seed: z.string(),
  cron: z.string(),
  destination: z.string(),
  prefix: z.string(),
  config: z.record(z.string(), z.array(z.string())),
  otherHeaders: pairs,
  otherQuery: pairs,
  queueName: z.optional(z.string()),
  view: z.string(),
  callerIp: z.string(),
  createdAt: z.number(),
  isPaused: z.boolean(),
  lastFire: z.optional(
    z.object({
      time: z.number(),
      messageIds: z.array(z.string()),
      error: z.optional(z.string()),
    }),
  ),
  body: storedBody,
});

export interface StoredSchedule extends Schedule {
  readonly body: StoredBody;
}

function scheduleOf(row: Row): StoredSchedule {
  const { owner, id, config, ...rest } = scheduleRow.parse(row);
  return { ...rest, accountId: owner, scheduleId: id, config: new Map(Object.entries(config)) };
}

const keyOf = (accountId: string, scheduleId: string): { readonly owner: string; readonly id: string } => ({
  owner: accountId,
  id: scheduleId,
});

export async function loadSchedule(
  accountId: string,
  scheduleId: string,
): Promise<StoredSchedule | undefined> {
  const row = await getRow(settings.schedulesTable, keyOf(accountId, scheduleId), true);
  return row && scheduleOf(row);
}

/** All schedules of an account, by id. */
export async function listSchedules(accountId: string): Promise<readonly StoredSchedule[]> {
  const schedules: StoredSchedule[] = [];
  for await (const row of rowsOf(settings.schedulesTable, 'owner', accountId))
    schedules.push(scheduleOf(row));
  return schedules;
}

/** The save that a change was made on, or that there was none. */
const unchanged = (saveId: string | undefined) =>
  saveId === undefined
    ? { ConditionExpression: 'attribute_not_exists(id)' }
    : {
        ConditionExpression: 'saveId = :saveId',
        ExpressionAttributeValues: { ':saveId': { S: saveId } },
      };

/**
 * Writes a schedule in the place of what was read.
 *
 * @param readSaveId undefined when there was none
 * @returns false when somebody else changed it meanwhile; nothing is written then
 */
export const saveSchedule = (schedule: StoredSchedule, readSaveId: string | undefined): Promise<boolean> => {
  const { accountId, scheduleId, config, ...rest } = schedule;
  const row = { ...rest, ...keyOf(accountId, scheduleId), config: Object.fromEntries(config) };
  return unlessRefused(
    dynamodb.send(
      new PutItemCommand({ TableName: settings.schedulesTable, Item: toItem(row), ...unchanged(readSaveId) }),
    ),
  );
};

/** @returns false when there is none */
export const setPaused = (accountId: string, scheduleId: string, isPaused: boolean): Promise<boolean> =>
  unlessRefused(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.schedulesTable,
        Key: toItem(keyOf(accountId, scheduleId)),
        UpdateExpression: 'SET isPaused = :isPaused',
        ConditionExpression: 'attribute_exists(id)',
        ExpressionAttributeValues: { ':isPaused': { BOOL: isPaused } },
      }),
    ),
  );

/** @returns what was deleted; undefined when there was none */
export async function deleteSchedule(
  accountId: string,
  scheduleId: string,
): Promise<StoredSchedule | undefined> {
  const { Attributes } = await dynamodb.send(
    new DeleteItemCommand({
      TableName: settings.schedulesTable,
      Key: toItem(keyOf(accountId, scheduleId)),
      ReturnValues: 'ALL_OLD',
    }),
  );
  return Attributes === undefined ? undefined : scheduleOf(unmarshall(Attributes));
}

/** Notes what came of a fire, unless a later one has been noted, or the schedule is not there any more. */
export async function noteFire(accountId: string, scheduleId: string, fire: LastFire): Promise<void> {
  await unlessRefused(
    dynamodb.send(
      new UpdateItemCommand({
        TableName: settings.schedulesTable,
        Key: toItem(keyOf(accountId, scheduleId)),
        UpdateExpression: 'SET lastFire = :fire',
        ConditionExpression:
          'attribute_exists(id) AND (attribute_not_exists(lastFire) OR lastFire.#time <= :time)',
        ExpressionAttributeNames: { '#time': 'time' },
        ExpressionAttributeValues: {
          ':fire': { M: toItem(fire) },
          ':time': { N: String(fire.time) },
        },
      }),
    ),
  );
}

/** How long it is known that a fire was handled: Scheduler tries to send one for a day, and SQS keeps it for 14. */
const fireMemoryMs = 16 * dayMs;

/** Fires have a partition of their own for each schedule, which is no account's. */
const fireKey = (accountId: string, scheduleId: string, time: number) => ({
  owner: `${accountId}/${scheduleId}`,
  id: String(time),
});

const fireRow = z.object({ isDone: z.boolean() });

/**
 * Takes a fire to handle it.
 *
 * @param staleBefore a claim from before this moment (Unix milliseconds) is of a worker that died
 * @returns `mine`; `done` when it was handled; `busy` when another worker is at it
 */
export async function claimFire(
  accountId: string,
  scheduleId: string,
  time: number,
  now: number,
  staleBefore: number,
): Promise<'mine' | 'done' | 'busy'> {
  const row = {
    ...fireKey(accountId, scheduleId, time),
    isDone: false,
    claimedAt: now,
    expiresAt: epochSeconds(now + fireMemoryMs),
  };
  try {
    await dynamodb.send(
      new PutItemCommand({
        TableName: settings.schedulesTable,
        Item: toItem(row),
        ConditionExpression: 'attribute_not_exists(id) OR (isDone = :no AND claimedAt < :stale)',
        ExpressionAttributeValues: { ':no': { BOOL: false }, ':stale': { N: String(staleBefore) } },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return 'mine';
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException) || error.Item === undefined) throw error;
    return fireRow.parse(unmarshall(error.Item)).isDone ? 'done' : 'busy';
  }
}

/** Marks a fire as handled. */
export async function finishFire(accountId: string, scheduleId: string, time: number): Promise<void> {
  await dynamodb.send(
    new UpdateItemCommand({
      TableName: settings.schedulesTable,
      Key: toItem(fireKey(accountId, scheduleId, time)),
      UpdateExpression: 'SET isDone = :yes',
      ExpressionAttributeValues: { ':yes': { BOOL: true } },
    }),
  );
}
