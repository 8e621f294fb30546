import { randomUUID } from 'node:crypto';
import { limitsOf, type Account, refuseWhileDraining } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import { overLimit } from '../error/httpError.ts';
import { newId } from '../shared/ids.ts';
import { storeBody } from '../message/bodies.ts';
import { countSchedules, loadSchedule, saveSchedule } from './rows.ts';
import type { StoredSchedule } from './schedule.ts';
import { ensureKeys } from '../lane/ensureKeys.ts';
import { ensureQueue } from '../lane/queues.ts';
import { retryOnConflict } from '../aws/retryOnConflict.ts';
import { markOf, scheduleChanges } from './scheduleSettings.ts';
import { catchUpOf, startFiring, stopFiring } from './firing.ts';
import { changedByMany } from './wholeSchedule.ts';
import { readSchedule, type ScheduleRequest } from './scheduleRequest.ts';

/** @throws HttpError 412 at the account's limit */
async function checkCapacity(account: Account): Promise<void> {
  const { max_schedules: most } = limitsOf(account);
  const schedules = await countSchedules(account.id);
  if (schedules >= most) {
    throw overLimit(
      'schedule_limit_reached',
      `The schedule would be number ${schedules + 1}, but the account's limit max_schedules is ${most}.`,
    );
  }
}

export interface Saved {
  readonly scheduleId: string;
  readonly changes: ReturnType<typeof scheduleChanges>;
}

/**
 * Saves a schedule, which may replace the one with its id.
 *
 * Each save has a new id. First its schedules are created in Scheduler, then its body and its row are
 * written. From then on the save is valid. A fire of any other save publishes nothing and removes that save.
 * So after any failure one schedule is complete, and the other is removed at its next fire.
 *
 * @param requestOf makes the request from the existing schedule; returns undefined to read it again
 * @throws HttpError 400, 403, 404, 412 or 503
 */
export function save(
  account: Account,
  scheduleId: string,
  requestOf: (
    before: StoredSchedule | undefined,
  ) => ScheduleRequest | undefined | Promise<ScheduleRequest | undefined>,
): Promise<Saved> {
  refuseWhileDraining(account);
  return retryOnConflict(changedByMany(scheduleId), async () => {
    const before = await loadSchedule(account.id, scheduleId);
    const request = await requestOf(before);
    if (request === undefined) return undefined;
    const { cron, drafts, kept } = await readSchedule(account, request, before);
    catchUpOf(kept);
    if (before === undefined) await checkCapacity(account);
    await ensureQueue(account, kept.queueName);
    // All messages of the schedule have the same keys, so one is enough.
    for (const { message } of drafts.slice(0, 1)) await ensureKeys(message);
    const saveId = newId('scd', now());
    const unstored = {
      ...kept,
      accountId: account.id,
      scheduleId,
      saveId,
      seed: before?.seed ?? randomUUID(),
      createdAt: before?.createdAt ?? now(),
      firesFrom: before?.cron === kept.cron ? before.firesFrom : now(),
      isPaused: before?.isPaused ?? false,
      lastFire: before?.lastFire,
      bodyMark: markOf(request.body),
    };
    await startFiring(unstored, cron);
    const owner = { accountId: account.id, messageId: saveId, expiresAt: Infinity };
    const schedule = { ...unstored, body: await storeBody(owner, request.body, now()) };
    const isOurs = await isSaved(schedule, before?.saveId);
    const leftOver = isOurs ? before : schedule;
    if (leftOver !== undefined) await stopFiring(leftOver);
    if (!isOurs) return undefined;
    return { scheduleId, changes: scheduleChanges(before, schedule) };
  });
}

/**
 * Writes the schedule's row. The SDK may repeat a write and get a refusal, so a row with this save's id
 * counts as written.
 *
 * @returns false if another change was faster
 */
const isSaved = async (schedule: StoredSchedule, readSaveId: string | undefined): Promise<boolean> =>
  (await saveSchedule(schedule, readSaveId)) ||
  (await loadSchedule(schedule.accountId, schedule.scheduleId))?.saveId === schedule.saveId;
