/**
 * EventBridge Scheduler: what is due later than a message timer reaches, and what is due again and again. Its client is
 * large and rarely needed, so it is loaded when the first schedule is made.
 */
import { minuteMs, secondMs } from '../domain/clock.ts';
import { settings } from '../settings.ts';

async function open() {
  const {
    ConflictException,
    CreateScheduleCommand,
    DeleteScheduleCommand,
    ResourceNotFoundException,
    SchedulerClient,
  } = await import('@aws-sdk/client-scheduler');
  const client = new SchedulerClient({
    maxAttempts: 5,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000 },
  });
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
              // The most that Scheduler does before it gives up: 185 tries within a day.
              RetryPolicy: { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 185 },
              DeadLetterConfig: { Arn: schedule.deadLetterArn },
            },
          }),
        );
      } catch (error) {
        // A name stands for one thing: what is there already is what was asked for.
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

/** The one client, loaded when it is first asked for. */
export const scheduler = (): ReturnType<typeof open> => (opened ??= open());

/**
 * Scheduler fires within the minute after its time, so it is set to be early by two; the rest is left to the message
 * timer, which is exact to the second.
 */
const earlyMs = 2 * minuteMs;

/**
 * Has a text sent to a queue once, up to two minutes before a moment that is more than that away.
 *
 * @param name of up to 64 letters, digits, `-`, `_` and `.`; a second schedule of one name is not made
 * @param dueAt Unix milliseconds
 */
export async function sendLater(later: {
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
    // What cannot be sent is a pointer: its message is failed into the dead letter queue, where it is seen.
    deadLetterArn: settings.deadQueueArn,
    input: later.input,
  });
}

/** Has a text sent to the queue of fires whenever an expression triggers; see {@link sendLater} for the name. */
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

/** What Scheduler puts in the place of this when it fires: the time it was to fire at, such as `2026-03-22T18:59:00Z`. */
export const scheduledTimeKeyword = '<aws.scheduler.scheduled-time>';

/** Ends a schedule, if it is there. */
export async function unschedule(name: string): Promise<void> {
  const api = await scheduler();
  await api.delete(name);
}
