/**
 * A schedule's settings, with the limits in Scheduler's API reference. Settings that the service never uses are refused instead of ignored.
 */
import * as z from 'zod/mini';

/** `Name` and `GroupName`. */
export const resourceName = z.string().check(z.regex(/^[0-9a-zA-Z\-_.]{1,64}$/));

const queueArn = z
  .string()
  .check(
    z.regex(
      /^arn:aws(-[a-z]+)?:sqs:[a-z0-9-]+:\d{12}:[a-zA-Z0-9\-_]+$/,
      "the local stage's schedules fire to SQS queues",
    ),
  );

/** The placeholder for the time of a fire in `Input`. */
export const scheduledTime = '<aws.scheduler.scheduled-time>';

/**
 * The largest `Input`, the message to the target queue: 256 KiB, the largest payload in Scheduler's quotas.
 */
const maxInputBytes = 262_144;
/** The longest `RoleArn`. */
const maxRoleLength = 1600;
/** The range of `MaximumEventAgeInSeconds`: one minute to one day, which is the default. */
const minEventAgeSeconds = 60;
const maxEventAgeSeconds = 86_400;
/** The largest `MaximumRetryAttempts`, which is the default. */
const maxRetryAttempts = 185;
/** The longest `ScheduleExpression` and `ScheduleExpressionTimezone`. */
const maxExpressionLength = 256;
const maxTimezoneLength = 50;

function closedObject<Shape extends z.core.$ZodShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys'
        ? `the local stage's schedules have no ${z.array(z.string()).parse(keys).join(', ')}`
        : undefined,
  });
}

const target = closedObject({
  Arn: queueArn,
  RoleArn: z
    .string()
    .check(z.maxLength(maxRoleLength), z.regex(/^arn:aws(-[a-z]+)?:iam::\d{12}:role\/[\w+=,.@/-]+$/)),
  Input: z.string().check(
    z.minLength(1),
    z.refine((text) => Buffer.byteLength(text) <= maxInputBytes, `it exceeds ${maxInputBytes} bytes`),
    z.refine(
      (text) => !text.replaceAll(scheduledTime, '').includes('<aws.scheduler.'),
      `the local stage's schedules have no other context attribute than ${scheduledTime}`,
    ),
  ),
  RetryPolicy: z._default(
    z.object({
      MaximumEventAgeInSeconds: z._default(
        z.int().check(z.gte(minEventAgeSeconds), z.lte(maxEventAgeSeconds)),
        maxEventAgeSeconds,
      ),
      MaximumRetryAttempts: z._default(z.int().check(z.gte(0), z.lte(maxRetryAttempts)), maxRetryAttempts),
    }),
    { MaximumEventAgeInSeconds: maxEventAgeSeconds, MaximumRetryAttempts: maxRetryAttempts },
  ),
  DeadLetterConfig: z.optional(z.object({ Arn: z.optional(queueArn) })),
});

const settings = {
  ScheduleExpression: z.string().check(z.minLength(1), z.maxLength(maxExpressionLength)),
  ScheduleExpressionTimezone: z._default(
    z.string().check(z.minLength(1), z.maxLength(maxTimezoneLength)),
    'UTC',
  ),
  FlexibleTimeWindow: closedObject({ Mode: z.literal('OFF') }),
  ActionAfterCompletion: z._default(z.enum(['NONE', 'DELETE']), 'NONE'),
  Target: target,
};

export const scheduleSettings = z.object(settings);
export type ScheduleSettings = z.infer<typeof scheduleSettings>;

export const createInput = closedObject({
  ...settings,
  Name: resourceName,
  GroupName: z._default(resourceName, 'default'),
  ClientToken: z.optional(z.string().check(z.regex(/^[a-zA-Z0-9\-_]{1,64}$/))),
});
