/** Reads schedules with their bodies, which are stored separately. */
import type { Account } from '../account/account.ts';
import { notFound, quote, type HttpError } from '../error/httpError.ts';
import { loadBody } from '../message/bodies.ts';
import { loadSchedule } from './rows.ts';
import type { StoredSchedule } from './schedule.ts';
import { retryOnConflict } from '../aws/retryOnConflict.ts';

export const noSuchSchedule = (scheduleId: string): HttpError =>
  notFound('schedule_not_found', `There is no schedule ${quote(scheduleId)}.`);

export const changedByMany = (scheduleId: string): string =>
  `The schedule ${quote(scheduleId)} is being changed by many at once; send it again.`;

interface WholeSchedule {
  readonly schedule: StoredSchedule;
  readonly body: Uint8Array;
}

/** @throws HttpError 404, or 503 if other requests replace it again and again */
export const loadWholeSchedule = ({ id }: Account, scheduleId: string): Promise<WholeSchedule> =>
  retryOnConflict(changedByMany(scheduleId), async () => {
    const schedule = await loadSchedule(id, scheduleId);
    if (schedule === undefined) throw noSuchSchedule(scheduleId);
    const body = await bodyOf(schedule);
    return body && { schedule, body };
  });

/** @returns undefined if another request replaced the schedule and its body */
export async function bodyOf(schedule: StoredSchedule): Promise<Uint8Array | undefined> {
  try {
    return await loadBody(schedule.saveId, schedule.body);
  } catch (error) {
    const current = await loadSchedule(schedule.accountId, schedule.scheduleId);
    if (current?.saveId === schedule.saveId) throw error;
    return undefined;
  }
}
