/** The part of Scheduler that belongs to a schedule: one repetition for each expression that its cron translates to. */
import { parseCron, type Cron } from './cron.ts';
import { formatNotice, schedulerName, type FireNotice, type Schedule } from './schedule.ts';
import { log } from '../aws/log.ts';
import { deleteBody, deleteLostBody } from '../message/bodies.ts';
import type { StoredSchedule } from './rows.ts';
import { scheduledTimeKeyword, sendRepeatedly, unschedule } from '../aws/scheduler.ts';

/** Lets Scheduler fire a save of a schedule from now on. */
export async function startFiring(schedule: Schedule, cron: Cron): Promise<void> {
  const { accountId, scheduleId, saveId } = schedule;
  const notice: FireNotice = { accountId, scheduleId, saveId, time: scheduledTimeKeyword };
  await Promise.all(
    cron.schedulerExpressions.map((expression, index) =>
      sendRepeatedly({
        name: schedulerName(saveId, index),
        expression,
        timezone: cron.timezone,
        input: formatNotice(notice),
      }),
    ),
  );
}

/**
 * Ends a save that no schedule has any more: deletes its body, and then takes it out of Scheduler. A failure is in the log;
 * the next fire of the save finds that it is out of date, and does the rest.
 */
export async function stopFiring({ scheduleId, saveId, cron, body }: StoredSchedule): Promise<void> {
  try {
    const { schedulerExpressions } = parseCron('Svc-Cron', cron);
    await deleteBody(saveId, body);
    await Promise.all(schedulerExpressions.map((_, index) => unschedule(schedulerName(saveId, index))));
  } catch (error) {
    log.warn('What fired a schedule could not be ended yet', {
      scheduleId,
      error: error instanceof Error ? error : String(error),
    });
  }
}

/** A cron expression translates to two of Scheduler's at most. */
const mostExpressions = 2;

/**
 * Ends what is left of a save that was overwritten, deleted or never finished. Its schedules in Scheduler go last: should this
 * process die, the next fire ends the rest.
 */
export async function endLeftOver(accountId: string, saveId: string): Promise<void> {
  await deleteLostBody(saveId, accountId);
  await Promise.all(
    Array.from({ length: mostExpressions }, (_, index) => unschedule(schedulerName(saveId, index))),
  );
}
