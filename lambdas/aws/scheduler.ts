/**
 * Sends jobs with EventBridge Scheduler that recur, or are due after SQS's longest delay. Its large client is loaded when it is
 * needed.
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
        // Each name has one purpose, so the existing schedule is the same one.
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

export const scheduler = (): ReturnType<typeof open> => (opened ??= open());

/** Scheduler fires within a minute after its time, so it is set two minutes early. An exact SQS delay does the rest. */
const earlyMs = 2 * minuteMs;

/** Lets Scheduler send a text to a queue once, up to two minutes before it is due. It must be due in more than two minutes. */
export async function sendLater(later: {
  /** Up to 64 letters, digits, `-`, `_` and `.`. A second schedule with the same name is not made. */
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
    // This queue's function makes the attempt, or turns its message into a dead letter.
    deadLetterArn: settings.deadQueueArn,
    input: later.input,
  });
}

/** Lets Scheduler send a text to the queue of fires. {@link sendLater} describes the name. */
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

/** Scheduler replaces it with the scheduled time, such as `2026-03-22T18:59:00Z`. */
export const scheduledTimeKeyword = '<aws.scheduler.scheduled-time>';

export async function unschedule(name: string): Promise<void> {
  const api = await scheduler();
  await api.delete(name);
}
