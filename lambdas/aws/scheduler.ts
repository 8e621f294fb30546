/**
 * Sends jobs with EventBridge Scheduler that recur, or are due after SQS's longest delay. Its client is
 * large, so it is loaded when needed.
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
        // Each name is used for one purpose, so the existing schedule is the same.
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

/** Scheduler may fire up to a minute late, so it is set two minutes early. A delay of SQS does the rest. */
const earlyMs = 2 * minuteMs;

/**
 * Lets Scheduler send a text to a queue once, up to two minutes early. The text must be due in more than two
 * minutes.
 */
export async function sendLater(later: {
  /** Up to 64 letters, digits, `-`, `_` and `.`. If a schedule with this name exists, no other is made. */
  readonly name: string;
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
    // The function of this queue makes the attempt, or adds its message to the dead letter queue.
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
