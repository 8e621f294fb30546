/** The part of Scheduler that belongs to a schedule: one repetition for each expression that its cron translates to. */
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { settings } from '../aws/settings.ts';
import { sqs } from '../aws/sqs.ts';
import { ConfigReader } from '../request/dialect.ts';
import { now } from '../shared/clock.ts';
import { timeOfId } from '../shared/ids.ts';
import { eachOf } from '../shared/lists.ts';
import { fires, parseCron, type Cron } from './cron.ts';
import { missedFires, parseCatchUp, type CatchUp } from './rules/missed.ts';
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

/** What a schedule makes up for; undefined where it skips what it missed. @throws HttpError 400 */
export const catchUpOf = ({ config, prefix }: Pick<Schedule, 'config' | 'prefix'>): CatchUp | undefined =>
  new ConfigReader(prefix, config).read('catch-up', parseCatchUp);

const sendNotice = (notice: FireNotice): Promise<unknown> =>
  sqs.send(new SendMessageCommand({ QueueUrl: settings.fireQueueUrl, MessageBody: formatNotice(notice) }));

/** Notices that are sent at once. */
const noticesAtOnce = 10;

/**
 * Sends the fires that a schedule has missed, if it makes up for them. A fire that is sent twice publishes once.
 *
 * @param until Unix milliseconds; a fire of this moment is not missed
 */
export async function sendMissed(schedule: Schedule, until: number): Promise<void> {
  const catchUp = catchUpOf(schedule);
  if (catchUp === undefined) return;
  const { accountId, scheduleId, saveId, lastFire, firesFrom = timeOfId(saveId) } = schedule;
  const cron = parseCron('Svc-Cron', schedule.cron);
  const since = Math.max(lastFire?.time ?? 0, firesFrom);
  const missed = missedFires(catchUp, (after) => fires(cron, after), since, until);
  await eachOf(missed, noticesAtOnce, async (time) => {
    await sendNotice({ accountId, scheduleId, saveId, time: new Date(time).toISOString(), kind: 'missed' });
  });
}

/** Lets the worker of fires look for what a schedule has missed until now, if it makes up for that. */
export async function lookForMissed(schedule: Schedule): Promise<void> {
  if (catchUpOf(schedule) === undefined) return;
  const { accountId, scheduleId, saveId } = schedule;
  await sendNotice({ accountId, scheduleId, saveId, time: new Date(now()).toISOString(), kind: 'look' });
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
