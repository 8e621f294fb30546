/**
 * The settings of a deployment. They come from the CDK context (`cdk.json`, `-c name=value`), where values from
 * the command line are always text; here they are checked once and become typed.
 */
import type { App } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import * as z from 'zod';

/** A list, or the same list as comma-separated text. */
const list = z.preprocess(
  (value) =>
    typeof value === 'string'
      ? value
          .split(',')
          .map((item) => item.trim())
          .filter((item) => item !== '')
      : value,
  z.array(z.string().min(1)),
);

const flag = z.preprocess(
  (value) => (value === 'true' ? true : value === 'false' ? false : value),
  z.boolean(),
);

const number = <T extends z.ZodType>(type: T) =>
  z.preprocess(
    (value) => (typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value),
    type,
  );

const whole = (least: number, most: number) => number(z.int().min(least).max(most));

const shape = z.strictObject({
  /** Starts the name of every stack, and of what has a fixed name; see `names.ts`. */
  name: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,62}$/, 'must be letters, digits and dashes, starting with a letter')
    .default('Svc'),
  /**
   * The first region has the management API, and makes the master secret and the table of accounts; the others get
   * replicas of both.
   */
  regions: list
    .pipe(
      z
        .array(z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be the name of an AWS region'))
        .min(1)
        .refine((regions) => new Set(regions).size === regions.length, 'must not name a region twice'),
    )
    .default(['eu-central-1', 'us-east-1']),
  /** Whether data outlives its stack: retained, protected from deletion, restorable to any second of 35 days. */
  retain: flag.default(true),
  /** CloudWatch Logs takes some numbers of days and no others. */
  logRetentionDays: number(z.enum(RetentionDays)).default(RetentionDays.ONE_MONTH),
  logLevel: z.enum(['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL']).default('INFO'),
  headerPrefixes: list.default(['Svc', 'Upstash']),
  allowedDestinations: list.default([]),
  ownHosts: list.default([]),
  /**
   * The group of our schedules in EventBridge Scheduler; by default one of our own, with the deployment's name. `default`
   * is the one that every account has.
   */
  scheduleGroup: z
    .string()
    .regex(/^[0-9a-zA-Z-_.]{1,64}$/, 'must be a name as Scheduler takes it')
    .optional(),
  /** The API's own ceiling, for all accounts together; AWS starts every account at these. */
  throttleRate: whole(1, 1_000_000).default(10_000),
  throttleBurst: whole(1, 1_000_000).default(5_000),
  /** At most this many of each delivery function at once; without it, the account's own limit holds. */
  deliveryConcurrency: whole(2, 1_000).optional(),
  /** Dollars that a message counts for against its account's budget. */
  pricePerMessage: number(z.number().min(0)).default(0.000_01),
  /** Makes the role with which API Gateway writes access logs: one for all APIs of an account and region. */
  gatewayLogRole: flag.default(true),
});

export type Settings = z.output<typeof shape>;

/** Names that the CDK itself puts into the context carry one of these; a setting's name never does. */
const ofTheCdk = /[:@]/;

/** @throws Error which names every setting that is unknown or has a wrong value */
export function readSettings(app: App): Settings {
  const context: unknown = app.node.getAllContext();
  const given = Object.entries(z.record(z.string(), z.unknown()).parse(context)).filter(
    ([name]) => !ofTheCdk.test(name),
  );
  const read = shape.safeParse(Object.fromEntries(given));
  if (!read.success) {
    throw new Error(
      `The settings in the CDK context are not right:\n${z.prettifyError(read.error)}\n` +
        `Known settings: ${Object.keys(shape.shape).join(', ')}.`,
    );
  }
  return read.data;
}
