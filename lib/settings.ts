/**
 * The settings of a deployment, checked once and typed. They come from the CDK context: `cdk.json`, or `-c name=value` on the
 * command line, where every value is text. `docs/deploy.md` lists them for operators; a test holds that list against this one.
 */
import type { App } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import * as z from 'zod';
import {
  defaultHeaderPrefixes,
  defaultPricePerMessage,
  deliveryConcurrency,
  leastConcurrency,
  mostConcurrency,
} from '../lambdas/resources.ts';

/** A list, or the same list as text with commas. */
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
  /** The beginning of the name of every stack, and of all that has a fixed name: see `names.ts`. */
  name: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]{0,62}$/, 'must be letters, digits and dashes, starting with a letter')
    .default('Svc'),
  /** The regions. The first has the management API, the master secret and the table of accounts; the others get replicas. */
  regions: list
    .pipe(
      z
        .array(z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be the name of an AWS region'))
        .min(1)
        .refine((regions) => new Set(regions).size === regions.length, 'must not name a region twice'),
    )
    .default(['eu-central-1', 'us-east-1']),
  /** Whether data outlives its stack, is protected from deletion, and can be restored to any second of the last 35 days. */
  retain: flag.default(true),
  /** The days that logs are kept. CloudWatch Logs takes certain numbers of days only. */
  logRetentionDays: number(z.enum(RetentionDays)).default(RetentionDays.ONE_MONTH),
  logLevel: z.enum(['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL']).default('INFO'),
  headerPrefixes: list.default([...defaultHeaderPrefixes]),
  allowedDestinations: list.default([]),
  /** More hosts of the service's own APIs. A port is for emulators: API Gateway listens at the usual ports only. */
  ownHosts: list
    .pipe(
      z.array(
        z
          .string()
          .regex(/^([a-z0-9.-]+|\[[0-9a-f:.]+\])(:\d+)?$/i, 'must be a host name, such as queue.example.com'),
      ),
    )
    .default([]),
  /**
   * The group of the schedules in EventBridge Scheduler; by default one of the deployment's name, which is made. `default` is
   * the group that every AWS account has.
   */
  scheduleGroup: z
    .string()
    .regex(/^[0-9a-zA-Z-_.]{1,64}$/, 'must be a name as Scheduler takes it')
    .optional(),
  /** Requests a second that the API takes from all accounts together, and at one instant. AWS gives new accounts these quotas. */
  throttleRate: whole(1, 1_000_000).default(10_000),
  throttleBurst: whole(1, 1_000_000).default(5_000),
  /** The most executions at once of each of the two delivery functions. */
  deliveryConcurrency: whole(leastConcurrency, mostConcurrency).default(deliveryConcurrency),
  /**
   * Executions that are reserved for publishing, which then gets no more than these. Lambda refuses to reserve any where fewer
   * than 100 would be left for the other functions of the AWS account. So by default nothing is reserved, and the service can
   * be deployed to the smallest account.
   */
  publishConcurrency: whole(1, 100_000).optional(),
  /**
   * Whether publish has a URL of its own beside the API, which costs nothing by the request. It is open to everybody, as the API
   * is, but some organisations forbid such URLs; so there is none by default.
   */
  publishUrl: flag.default(false),
  /** Whether each region has a dashboard, alarms with a topic, and saved queries. They cost some dollars a month, used or not. */
  monitoring: flag.default(true),
  /** Whether to leave out what emulators do not know: saved queries, and alarms on what CloudWatch computes of several metrics. */
  forEmulator: flag.default(false),
  /** The addresses that get a mail from each alarm. AWS asks each of them first. */
  alarmEmails: list.pipe(z.array(z.email('must be an e-mail address'))).default([]),
  /** The limit of executions at once that the AWS account has in a region, which an alarm is held against. */
  accountConcurrency: whole(10, 1_000_000).default(1_000),
  /** Whether X-Ray traces requests and what follows from them. It is billed by the trace. */
  tracing: flag.default(false),
  /** Dollars that a message counts for against its account's budget. */
  pricePerMessage: number(z.number().min(0)).default(defaultPricePerMessage),
  /** The factor by which a call to AWS may take longer than usual before it is tried again. More than 1 is for emulators. */
  clientPatience: number(z.number().min(1).max(100)).default(1),
  /** Whether to make the role with which API Gateway writes access logs. There is one for an AWS account and region. */
  gatewayLogRole: flag.default(true),
});

export type Settings = z.output<typeof shape>;
export const settingNames: readonly string[] = Object.keys(shape.shape);

/** Names that the CDK itself puts into the context have one of these characters. Names of settings have none. */
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
        `Known settings: ${settingNames.join(', ')}.`,
    );
  }
  return read.data;
}
