/** The rows of schedules. Rows of fires, which expire, ensure that each fire is handled once. */
import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod/mini';
import { dayMs, epochSeconds } from '../shared/clock.ts';
import { listOf } from '../shared/lists.ts';
import { storedSchedule, type LastFire, type StoredSchedule } from './schedule.ts';
import { tables } from '../aws/resources.ts';
import { settings } from '../aws/settings.ts';
import { claiming } from '../table/claim.ts';
import { dynamodb, getRow, rowsOf, scanRows, type Row } from '../aws/dynamodb.ts';
import { put, update, remove, unlessRefused, ifNew } from '../aws/writes.ts';

const scheduleOf = ({ owner, id, ...rest }: Row): StoredSchedule =>
  storedSchedule.parse({ ...rest, accountId: owner, scheduleId: id });

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

const table = () => ({ name: settings.schedulesTable, ...tables.schedules });

export async function* schedulesBehind(
  accountId: string,
  behind: string | undefined,
): AsyncGenerator<StoredSchedule> {
  for await (const row of rowsOf(table(), accountId, behind)) yield scheduleOf(row);
}

export const countSchedules = async (accountId: string): Promise<number> =>
  (await listOf(rowsOf(table(), accountId, undefined, 'id'))).length;

export async function* allSchedules(): AsyncGenerator<StoredSchedule> {
  const rows = scanRows({
    TableName: settings.schedulesTable,
    // Leaves out rows of fires, which have no save.
    FilterExpression: 'attribute_exists(saveId)',
  });
  for await (const row of rows) yield scheduleOf(row);
}

export async function listSchedules(accountId: string): Promise<readonly StoredSchedule[]> {
  const schedules: StoredSchedule[] = [];
  for await (const schedule of schedulesBehind(accountId, undefined)) schedules.push(schedule);
  return schedules;
}

/**
 * @param readSaveId the save of the schedule as it was read, paused like the new one; undefined if there was
 * no schedule
 * @returns false if another request has changed, paused or resumed it; nothing is written
 */
export const saveSchedule = (schedule: StoredSchedule, readSaveId: string | undefined): Promise<boolean> => {
  const { accountId, scheduleId, config, ...rest } = schedule;
  const row = { ...rest, ...keyOf(accountId, scheduleId), config: [...config] };
  return unlessRefused(
    put(
      settings.schedulesTable,
      row,
      readSaveId === undefined
        ? ifNew
        : {
            onlyIf: 'saveId = :saveId AND isPaused = :isPaused',
            values: { saveId: readSaveId, isPaused: schedule.isPaused },
          },
    ),
  );
};

/** @returns the schedule as it was before; undefined if it does not exist */
export async function setPaused(
  accountId: string,
  scheduleId: string,
  isPaused: boolean,
): Promise<StoredSchedule | undefined> {
  const { isMade, row } = await update(
    settings.schedulesTable,
    keyOf(accountId, scheduleId),
    'SET isPaused = :isPaused',
    { onlyIf: 'attribute_exists(id)', values: { isPaused }, returns: 'ALL_OLD' },
  );
  return isMade ? scheduleOf(row) : undefined;
}

/** @returns the deleted schedule, if it existed */
export async function deleteSchedule(
  accountId: string,
  scheduleId: string,
): Promise<StoredSchedule | undefined> {
  const { row = {} } = await remove(settings.schedulesTable, keyOf(accountId, scheduleId), {
    returns: 'ALL_OLD',
  });
  return Object.keys(row).length === 0 ? undefined : scheduleOf(row);
}

/** Notes a schedule's last fire, unless a later one is noted or the schedule is gone. */
export async function noteFire(accountId: string, scheduleId: string, fire: LastFire): Promise<void> {
  await update(settings.schedulesTable, keyOf(accountId, scheduleId), 'SET lastFire = :fire', {
    onlyIf: 'attribute_exists(id) AND (attribute_not_exists(lastFire) OR lastFire.#time <= :time)',
    values: { fire, time: fire.time },
  });
}

/** Scheduler retries a fire for a day, and SQS keeps it for 14 days. */
const fireMemoryMs = 16 * dayMs;

/** Fires are in a separate partition. Account ids have no slash. */
const fireKey = (accountId: string, scheduleId: string, time: number) => ({
  owner: `${accountId}/${scheduleId}`,
  id: String(time),
});

const fireRow = z.object({
  id: z.string(),
  isDone: z.boolean(),
  // Missing while the fire is claimed.
  messageIds: z.optional(z.array(z.string())),
  error: z.optional(z.string()),
});

/**
 * @param endedBy Unix milliseconds; workers with claims from before then have died
 * @returns `mine`; `done` if it was handled before; `busy` if another worker handles it
 */
export async function claimFire(
  accountId: string,
  scheduleId: string,
  time: number,
  now: number,
  endedBy: number,
): Promise<'mine' | 'done' | 'busy'> {
  const claimed = {
    ...fireKey(accountId, scheduleId, time),
    isDone: false,
    claimedAt: now,
    expiresAt: epochSeconds(now + fireMemoryMs),
  };
  const { isMade, row } = await put(
    settings.schedulesTable,
    claimed,
    claiming({
      attribute: 'claimedAt',
      endedBy,
      onlyIf: '(attribute_not_exists(isDone) OR isDone = :no)',
      values: { no: false },
    }),
  );
  if (isMade) return 'mine';
  return fireRow.parse(row).isDone ? 'done' : 'busy';
}

export async function finishFire(
  accountId: string,
  scheduleId: string,
  { time, messageIds, error }: LastFire,
): Promise<void> {
  await update(
    settings.schedulesTable,
    fireKey(accountId, scheduleId, time),
    `SET isDone = :yes, messageIds = :ids${error === undefined ? '' : ', #error = :error'}`,
    { values: { yes: true, ids: messageIds, error } },
  );
}

/** Newest first, up to 16 days old. */
export async function lastFires(
  accountId: string,
  scheduleId: string,
  most: number,
): Promise<readonly (Pick<LastFire, 'time'> & Partial<LastFire>)[]> {
  const { owner } = fireKey(accountId, scheduleId, 0);
  const { Items = [] } = await dynamodb.send(
    new QueryCommand({
      TableName: settings.schedulesTable,
      KeyConditionExpression: '#owner = :owner',
      ExpressionAttributeNames: { '#owner': 'owner' },
      ExpressionAttributeValues: { ':owner': { S: owner } },
      ScanIndexForward: false,
      Limit: most,
    }),
  );
  return Items.flatMap((item) => {
    const { id, isDone, ...fire } = fireRow.parse(unmarshall(item));
    return isDone ? [{ ...fire, time: Number(id) }] : [];
  });
}
