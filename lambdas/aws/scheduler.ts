/**
 * EventBridge Scheduler sends jobs that are due after the longest message timer, and those that recur. Its client is large and
 * rarely needed, so it is loaded when the first schedule is made.
 */
import { clientOptions } from './clientOptions.ts';
import { prepareClient } from './functionClient.ts';
import { minuteMs, secondMs } from '../shared/clock.ts';
import { settings } from './settings.ts';

async function open() {
  const {
    ConflictException,
    CreateScheduleCommand,
    DeleteScheduleCommand,
    ResourceNotFoundException,
    SchedulerClient,
  } = await import('@aws-sdk/client-scheduler');
  const client = prepareClient('Scheduler', new SchedulerClient({ ...clientOptions('quick') }));
  return {
    client,
    create: async (schedule: NewSchedule): Promise<void> => {
      try {
        await client.send(
          new CreateScheduleCommand({
            GroupName: settings.scheduleGroup,
            Name: schedule.name,
            ScheduleExpression: schedule.expression,
            ScheduleExpressionTimezone: schedule.timezone,
            FlexibleTimeWindow: { Mode: 'OFF' },
            ActionAfterCompletion: schedule.isOnce ? 'DELETE' : 'NONE',
            Target: {
              Arn: schedule.queueArn,
              RoleArn: settings.schedulerRoleArn,
              Input: schedule.input,
              // Scheduler's longest retry policy: 185 tries within a day.
              RetryPolicy: { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 185 },
              DeadLetterConfig: { Arn: schedule.deadLetterArn },
            },
          }),
        );
      } catch (error) {
        // A name is used for one thing only: the existing schedule is the one that was asked for.
        if (!(error instanceof ConflictException)) throw error;
      }
    },
    delete: async (name: string): Promise<void> => {
      try {
        await client.send(new DeleteScheduleCommand({ GroupName: settings.scheduleGroup, Name: name }));
      } catch (error) {
        if (!(error instanceof ResourceNotFoundException)) throw error;
      }
    },
  };
}

interface NewSchedule {
  readonly name: string;
  readonly expression: string;
  readonly timezone: string;
  readonly isOnce: boolean;
  readonly queueArn: string;
  readonly deadLetterArn: string;
  readonly input: string;
}

let opened: ReturnType<typeof open> | undefined;

/** The one client, loaded at its first use. */
export const scheduler = (): ReturnType<typeof open> => (opened ??= open());

/**
 * Scheduler fires within the minute after its time, so it is set two minutes early. The message timer, which is exact to the
 * second, does the rest.
 */
const earlyMs = 2 * minuteMs;

/** Lets Scheduler send a text to a queue once, up to two minutes before it is due. It must be due in more than two minutes. */
export async function sendLater(later: {
  /** Up to 64 letters, digits, `-`, `_` and `.`; a second schedule of the same name is not made. */
  readonly name: string;
  /** Unix milliseconds. */
  readonly dueAt: number;
  readonly queueArn: string;
  readonly input: string;
}): Promise<void> {
  const at = new Date(Math.floor((later.dueAt - earlyMs) / secondMs) * secondMs).toISOString().slice(0, 19);
  const { create } = await scheduler();
  await create({
    name: later.name,
    expression: `at(${at})`,
    timezone: 'UTC',
    isOnce: true,
    queueArn: later.queueArn,
    // The function behind this queue makes the attempt, or fails its message into the dead letter queue.
    deadLetterArn: settings.deadQueueArn,
    input: later.input,
  });
}

/** Lets Scheduler send a text to the queue of fires whenever an expression triggers; {@link sendLater} describes the name. */
export async function sendRepeatedly(repeated: {
  readonly name: string;
  readonly expression: string;
  readonly timezone: string;
  readonly input: string;
}): Promise<void> {
  const { create } = await scheduler();
  await create({
    ...repeated,
    isOnce: false,
    queueArn: settings.fireQueueArn,
    deadLetterArn: settings.schedulerDlqArn,
  });
}

/** Scheduler replaces this by the time at which it was to fire, such as `2026-03-22T18:59:00Z`. */
export const scheduledTimeKeyword = '<aws.scheduler.scheduled-time>';

/** Deletes a schedule, if it exists. */
export async function unschedule(name: string): Promise<void> {
  const api = await scheduler();
  await api.delete(name);
}
