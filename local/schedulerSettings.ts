/** What a schedule is set to, in the words of Scheduler's API, with its defaults. */
import * as z from 'zod/mini';

/** Of schedules and groups. */
export const resourceName = z.string().check(z.regex(/^[0-9a-zA-Z\-_.]{1,64}$/));

const queueArn = z
  .string()
  .check(
    z.regex(
      /^arn:aws(-[a-z]+)?:sqs:[a-z0-9-]+:\d{12}:[a-zA-Z0-9\-_]+$/,
      "the local stage's schedules fire to SQS queues",
    ),
  );

/** A quota of Scheduler, in bytes. */
const maxInputBytes = 262_144;

const unsupported = z.optional(z.never("the local stage's schedules take no other target than SQS queues"));

const target = z.object({
  Arn: queueArn,
  RoleArn: z.string().check(z.maxLength(1600), z.regex(/^arn:aws(-[a-z]+)?:iam::\d{12}:role\/[\w+=,.@/-]+$/)),
  Input: z.optional(
    z.string().check(
      z.minLength(1),
      z.refine((text) => Buffer.byteLength(text) <= maxInputBytes, `it exceeds ${maxInputBytes} bytes`),
    ),
  ),
  RetryPolicy: z._default(
    z.object({
      MaximumEventAgeInSeconds: z._default(z.int().check(z.gte(60), z.lte(86_400)), 86_400),
      MaximumRetryAttempts: z._default(z.int().check(z.gte(0), z.lte(185)), 185),
    }),
    { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 185 },
  ),
  DeadLetterConfig: z.optional(z.object({ Arn: z.optional(queueArn) })),
  SqsParameters: z.optional(
    z.object({ MessageGroupId: z.optional(z.string().check(z.minLength(1), z.maxLength(128))) }),
  ),
  EcsParameters: unsupported,
  EventBridgeParameters: unsupported,
  KinesisParameters: unsupported,
  SageMakerPipelineParameters: unsupported,
});

const epochSeconds = z.number();

export const scheduleSettings = z.object({
  ScheduleExpression: z.string().check(z.minLength(1), z.maxLength(256)),
  ScheduleExpressionTimezone: z._default(z.string().check(z.minLength(1), z.maxLength(50)), 'UTC'),
  StartDate: z.optional(epochSeconds),
  EndDate: z.optional(epochSeconds),
  Description: z.optional(z.string().check(z.maxLength(512))),
  State: z._default(z.enum(['ENABLED', 'DISABLED']), 'ENABLED'),
  FlexibleTimeWindow: z.discriminatedUnion('Mode', [
    z.object({ Mode: z.literal('OFF'), MaximumWindowInMinutes: z.optional(z.never()) }),
    z.object({
      Mode: z.literal('FLEXIBLE'),
      MaximumWindowInMinutes: z.int().check(z.gte(1), z.lte(1440)),
    }),
  ]),
  ActionAfterCompletion: z._default(z.enum(['NONE', 'DELETE']), 'NONE'),
  KmsKeyArn: z.optional(z.string()),
  Target: target,
});
export type ScheduleSettings = z.infer<typeof scheduleSettings>;
