/**
 * Everything a handler learns from its environment, read and checked once, at start.
 *
 * Every Lambda gets the same variables; what it may touch is decided by its role, not by what it knows.
 */
import * as z from 'zod/mini';

const commaList = z.pipe(
  z.string(),
  z.transform((text) =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  ),
);

const jsonObject = <T extends z.ZodMiniType>(shape: T) =>
  z.pipe(
    z.pipe(
      z.string(),
      z.transform((text): unknown => JSON.parse(text)),
    ),
    shape,
  );

/** Of a table, a bucket, a region, a role: never empty. */
const name = z.string().check(z.minLength(1));

const environment = z.object({
  /** The region this deployment serves; `Svc-Region` on deliveries. */
  AWS_REGION: name,
  MESSAGES_TABLE: name,
  DLQ_TABLE: name,
  ACCOUNTS_TABLE: name,
  GROUPS_TABLE: name,
  QUEUES_TABLE: name,
  DEDUPLICATION_TABLE: name,
  SCHEDULES_TABLE: name,
  USAGE_TABLE: name,
  /** Bodies too large for a table row. */
  BODIES_BUCKET: name,
  /** Pointers to messages whose timeout is at most 30 s. */
  SHORT_QUEUE_URL: z.url(),
  /** Pointers to all other messages. */
  LONG_QUEUE_URL: z.url(),
  /** What EventBridge Scheduler sends to, and as whom: it takes ARNs where SQS takes URLs. */
  SHORT_QUEUE_ARN: name,
  LONG_QUEUE_ARN: name,
  DEAD_QUEUE_ARN: name,
  FIRE_QUEUE_ARN: name,
  /** Where fires go that Scheduler could not send. */
  SCHEDULER_DLQ_ARN: name,
  SCHEDULER_ROLE_ARN: name,
  /** The group that all our schedules are in. */
  SCHEDULE_GROUP: name,
  /** The Secrets Manager secret from which every token and signing key is derived. */
  MASTER_SECRET_ID: name,
  /** The Secrets Manager secret with the name and password of the management API. */
  MANAGEMENT_SECRET_ID: name,
  /** All regions that accounts may be served in, and for each the queue that is told of changes to them. */
  ACCOUNT_CHANGES_QUEUES: jsonObject(z.record(z.string(), z.url())),
  /** Dollars that a message counts for against its account's budget. */
  PRICE_PER_MESSAGE: z._default(z.coerce.number().check(z.nonnegative()), 0.000_01),
  /** Header prefixes that clients may use, comma-separated; `Svc` is always accepted. */
  HEADER_PREFIXES: z._default(commaList, ['Svc', 'Upstash']),
  /** Host names and CIDR blocks that deliveries may reach although they are not public. */
  ALLOWED_DESTINATIONS: z._default(commaList, []),
  /** `host[:port]` of the service's own APIs, refused as destinations. */
  OWN_HOSTS: z._default(commaList, []),
});

const read = environment.safeParse(process.env);
if (!read.success) {
  throw new Error(`The environment is incomplete:\n${z.prettifyError(read.error)}`);
}
const env = read.data;

export const settings = {
  region: env.AWS_REGION,
  messagesTable: env.MESSAGES_TABLE,
  dlqTable: env.DLQ_TABLE,
  accountsTable: env.ACCOUNTS_TABLE,
  groupsTable: env.GROUPS_TABLE,
  queuesTable: env.QUEUES_TABLE,
  deduplicationTable: env.DEDUPLICATION_TABLE,
  schedulesTable: env.SCHEDULES_TABLE,
  usageTable: env.USAGE_TABLE,
  bodiesBucket: env.BODIES_BUCKET,
  shortQueueUrl: env.SHORT_QUEUE_URL,
  longQueueUrl: env.LONG_QUEUE_URL,
  shortQueueArn: env.SHORT_QUEUE_ARN,
  longQueueArn: env.LONG_QUEUE_ARN,
  deadQueueArn: env.DEAD_QUEUE_ARN,
  fireQueueArn: env.FIRE_QUEUE_ARN,
  schedulerDlqArn: env.SCHEDULER_DLQ_ARN,
  schedulerRoleArn: env.SCHEDULER_ROLE_ARN,
  scheduleGroup: env.SCHEDULE_GROUP,
  masterSecretId: env.MASTER_SECRET_ID,
  managementSecretId: env.MANAGEMENT_SECRET_ID,
  accountChangesQueues: env.ACCOUNT_CHANGES_QUEUES,
  /** Home first. */
  regions: Object.keys(env.ACCOUNT_CHANGES_QUEUES),
  pricePerMessage: env.PRICE_PER_MESSAGE,
  headerPrefixes: env.HEADER_PREFIXES,
  allowedDestinations: env.ALLOWED_DESTINATIONS,
  ownHosts: env.OWN_HOSTS,
} as const;
