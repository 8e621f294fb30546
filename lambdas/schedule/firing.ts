import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { settings } from '../aws/settings.ts';
import { sqs } from '../aws/sqs.ts';
import { ConfigReader } from '../request/dialect.ts';
import { now } from '../shared/clock.ts';
import { eachOf } from '../shared/lists.ts';
import { fires, parseCron, type Cron } from './cron.ts';
import { missedFires, parseCatchUp, type CatchUp } from './rules/missed.ts';
import { formatNotice, schedulerName, type FireNotice, type Schedule } from './schedule.ts';
import { log } from '../aws/log.ts';
import { deleteBody, deleteLostBody } from '../message/bodies.ts';
import type { StoredSchedule } from './schedule.ts';
import { scheduledTimeKeyword, sendRepeatedly, unschedule } from '../aws/scheduler.ts';

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

export const catchUpOf = ({ config, prefix }: Pick<Schedule, 'config' | 'prefix'>): CatchUp | undefined =>
  new ConfigReader(prefix, config).read('catch-up', parseCatchUp);

const sendNotice = (notice: FireNotice): Promise<unknown> =>
  sqs.send(new SendMessageCommand({ QueueUrl: settings.fireQueueUrl, MessageBody: formatNotice(notice) }));

/** Notices sent in parallel. */
const noticesAtOnce = 10;

/**
 * Sends the fires that were missed. A fire that is sent twice publishes once.
 *
 * @param until Unix milliseconds, exclusive
 */
export async function sendMissed(schedule: Schedule, until: number): Promise<void> {
  const catchUp = catchUpOf(schedule);
  if (catchUp === undefined) return;
  const { accountId, scheduleId, saveId, lastFire, firesFrom } = schedule;
  const cron = parseCron('Svc-Cron', schedule.cron);
  const since = Math.max(lastFire?.time ?? 0, firesFrom);
  const missed = missedFires(catchUp, (after) => fires(cron, after), since, until);
  await eachOf(missed, noticesAtOnce, async (time) => {
    await sendNotice({ accountId, scheduleId, saveId, time: new Date(time).toISOString(), kind: 'missed' });
  });
}

/** Lets the worker of fires look for missed fires. */
export async function lookForMissed(schedule: Schedule): Promise<void> {
  if (catchUpOf(schedule) === undefined) return;
  const { accountId, scheduleId, saveId } = schedule;
  await sendNotice({ accountId, scheduleId, saveId, time: new Date(now()).toISOString(), kind: 'look' });
}

/** Ends a save that is no longer used. If this fails, the save's next fire ends it. */
export async function stopFiring({ scheduleId, saveId, cron, body }: StoredSchedule): Promise<void> {
  try {
    const { schedulerExpressions } = parseCron('Svc-Cron', cron);
    await deleteBody(saveId, body);
    await Promise.all(schedulerExpressions.map((_, index) => unschedule(schedulerName(saveId, index))));
  } catch (error) {
    log.warn('An unused save of a schedule could not be removed yet', {
      scheduleId,
      error: error instanceof Error ? error : String(error),
    });
  }
}

/** A cron expression needs at most two of Scheduler's. */
const mostExpressions = 2;

/**
 * Removes a save that is no longer used. Its schedules in Scheduler are deleted last: if the process dies,
 * their next fire repeats this.
 */
export async function endLeftOver(accountId: string, saveId: string): Promise<void> {
  await deleteLostBody(saveId, accountId);
  await Promise.all(
    Array.from({ length: mostExpressions }, (_, index) => unschedule(schedulerName(saveId, index))),
  );
}
