import { changesBetween, type Changes } from '../audit/changes.ts';
import { ConfigReader } from '../request/dialect.ts';
import type { Account } from '../account/account.ts';
import { now } from '../shared/clock.ts';
import { newId } from '../shared/ids.ts';
import { parseName } from '../value/names.ts';
import { deleteSchedule as deleteStored, setPaused } from './rows.ts';
import { lookForMissed, stopFiring } from './firing.ts';
import { noSuchSchedule } from './wholeSchedule.ts';
import { scheduleChanges } from './scheduleSettings.ts';
import { save, type Saved } from './saveSchedule.ts';
import type { ScheduleRequest } from './scheduleRequest.ts';

export async function createSchedule(account: Account, request: ScheduleRequest): Promise<Saved> {
  const reader = new ConfigReader(request.prefix, request.config);
  const scheduleId = reader.read('schedule-id', parseName) ?? newId('scd', now());
  return save(account, scheduleId, () => request);
}

export async function deleteSchedule(account: Account, scheduleId: string): Promise<Changes> {
  const deleted = await deleteStored(account.id, scheduleId);
  if (deleted === undefined) throw noSuchSchedule(scheduleId);
  await stopFiring(deleted);
  return scheduleChanges(deleted, undefined);
}

/**
 * Pauses or resumes a schedule. While paused, it publishes nothing. When resumed, it sends missed fires if it
 * has `Svc-Catch-Up`.
 *
 * @throws HttpError 404
 */
export async function pauseSchedule(
  account: Account,
  scheduleId: string,
  isPaused: boolean,
): Promise<Changes> {
  const before = await setPaused(account.id, scheduleId, isPaused);
  if (before === undefined) throw noSuchSchedule(scheduleId);
  if (!isPaused) await lookForMissed(before);
  return changesBetween({ isPaused: before.isPaused }, { isPaused });
}
