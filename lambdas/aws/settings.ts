/**
 * The settings of the handlers, from the environment. `lib/functions/environment.ts` and the local stage set these variables.
 * Every function gets all of them: its role decides what it may use.
 */
import * as z from 'zod/mini';
import { defaultPricePerMessage, functionMemoryMb, longestTimeoutSeconds } from './resources.ts';

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

const name = z.string().check(z.minLength(1));

const environment = z.object({
  /** The header `Svc-Region` of deliveries. */
  AWS_REGION: name,
  MESSAGES_TABLE: name,
  DLQ_TABLE: name,
  ACCOUNTS_TABLE: name,
  GROUPS_TABLE: name,
  LANES_TABLE: name,
  WORKFLOWS_TABLE: name,
  DEDUPLICATION_TABLE: name,
  SCHEDULES_TABLE: name,
  USAGE_TABLE: name,
  /** For bodies that are too large for a row. */
  BODIES_BUCKET: name,
  SHORT_QUEUE_URL: z.url(),
  LONG_QUEUE_URL: z.url(),
  DEAD_QUEUE_URL: z.url(),
  FIRE_QUEUE_URL: z.url(),
  UNDELIVERED_FIRES_QUEUE_URL: z.url(),
  /** New in this release. While a function is updated, this code may run before the variable is set. */
  SLOW_QUEUE_URL: z.optional(z.url()),
  PARKED_QUEUE_URL: z.optional(z.url()),
  RELEASE: z._default(z.string(), ''),
  SHORT_QUEUE_ARN: name,
  LONG_QUEUE_ARN: name,
  DEAD_QUEUE_ARN: name,
  FIRE_QUEUE_ARN: name,
  /** The queue of fires that Scheduler could not send. */
  SCHEDULER_DLQ_ARN: name,
  SCHEDULER_ROLE_ARN: name,
  SCHEDULE_GROUP: name,
  /** The secret from which all tokens and signing keys are derived. */
  MASTER_SECRET_ID: name,
  /** The management API's name and password. */
  MANAGEMENT_SECRET_ID: name,
  /** The names of TLS secrets, with `*` for the identity's name. Only the local stage sets it. */
  TLS_SECRETS: z.optional(z.string().check(z.includes('*'))),
  /** The queues of all regions with accounts; the first region is first. */
  ACCOUNT_CHANGES_QUEUES: jsonObject(z.record(z.string(), z.url())),
  /** Dollars. */
  PRICE_PER_MESSAGE: z._default(z.coerce.number().check(z.nonnegative()), defaultPricePerMessage),
  /** Besides `Svc`, which is always accepted. */
  HEADER_PREFIXES: commaList,
  /** Private hosts and CIDR blocks that deliveries may reach. */
  ALLOWED_DESTINATIONS: z._default(commaList, []),
  /** The proxy for each scheme, and the hosts that are reached without a proxy. */
  OUTBOUND_PROXIES: z.optional(
    jsonObject(
      z.object({ http: z.optional(z.url()), https: z.optional(z.url()), except: z.array(z.string()) }),
    ),
  ),
  /** ARN patterns that deliveries may send to. New in this release. */
  DESTINATIONS: z._default(commaList, []),
  LAMBDA_DESTINATIONS: z._default(commaList, []),
  /** The service's own APIs, as `host[:port]`. They are refused as destinations. */
  OWN_HOSTS: z._default(commaList, []),
  /**
   * Whether the service learns its APIs' hosts from requests. `false` if a gateway passes on every host that
   * a client names.
   */
  LEARN_HOSTS: z._default(z.enum(['true', 'false']), 'true'),
  /** The longest timeout of a message, in seconds: see `longestTimeoutSeconds` in `resources.ts`. */
  LONGEST_TIMEOUT: z._default(
    z.coerce.number().check(z.int(), z.gte(longestTimeoutSeconds.functions)),
    longestTimeoutSeconds.functions,
  ),
  TRACING: z._default(z.enum(['true', 'false']), 'false'),
  /**
   * The base URL behind the gateway. A function URL that is called for another function's route names it in
   * its answer.
   */
  API_URL: z.optional(z.url()),
  /** Idle connections that a process keeps: an eighth of the connections that Lambda lets it open. */
  KEPT_CONNECTIONS: z._default(z.coerce.number().check(z.int(), z.gte(1)), 128),
  /**
   * MB, set by Lambda: "Working with Lambda environment variables", defined runtime environment variables.
   */
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: z._default(z.coerce.number().check(z.int(), z.gte(128)), functionMemoryMb),
  /** The APIs that the console's page may call, separated by spaces. */
  CONSOLE_APIS: z._default(name, 'messaging'),
});

export type Environment = { readonly [Name in keyof z.input<typeof environment>]-?: string };

const read = environment.safeParse(process.env);
if (!read.success) {
  throw new Error(`The environment is incomplete:\n${z.prettifyError(read.error)}`);
}
const env = read.data;
/** The master secret's name begins with the deployment's name. The local stage has no deployment name. */
const deployment = /^(.+)\/master$/.exec(env.MASTER_SECRET_ID)?.[1] ?? 'local';

export const settings = {
  region: env.AWS_REGION,
  messagesTable: env.MESSAGES_TABLE,
  dlqTable: env.DLQ_TABLE,
  accountsTable: env.ACCOUNTS_TABLE,
  groupsTable: env.GROUPS_TABLE,
  lanesTable: env.LANES_TABLE,
  workflowsTable: env.WORKFLOWS_TABLE,
  deduplicationTable: env.DEDUPLICATION_TABLE,
  schedulesTable: env.SCHEDULES_TABLE,
  usageTable: env.USAGE_TABLE,
  bodiesBucket: env.BODIES_BUCKET,
  shortQueueUrl: env.SHORT_QUEUE_URL,
  longQueueUrl: env.LONG_QUEUE_URL,
  deadQueueUrl: env.DEAD_QUEUE_URL,
  fireQueueUrl: env.FIRE_QUEUE_URL,
  undeliveredFiresQueueUrl: env.UNDELIVERED_FIRES_QUEUE_URL,
  slowQueueUrl: env.SLOW_QUEUE_URL,
  parkedQueueUrl: env.PARKED_QUEUE_URL,
  release: env.RELEASE,
  shortQueueArn: env.SHORT_QUEUE_ARN,
  longQueueArn: env.LONG_QUEUE_ARN,
  deadQueueArn: env.DEAD_QUEUE_ARN,
  fireQueueArn: env.FIRE_QUEUE_ARN,
  schedulerDlqArn: env.SCHEDULER_DLQ_ARN,
  schedulerRoleArn: env.SCHEDULER_ROLE_ARN,
  scheduleGroup: env.SCHEDULE_GROUP,
  deployment,
  masterSecretId: env.MASTER_SECRET_ID,
  managementSecretId: env.MANAGEMENT_SECRET_ID,
  tlsSecrets: env.TLS_SECRETS ?? `${deployment}/tls/*`,
  accountChangesQueues: env.ACCOUNT_CHANGES_QUEUES,
  /** The first region has the management API. */
  regions: Object.keys(env.ACCOUNT_CHANGES_QUEUES),
  pricePerMessage: env.PRICE_PER_MESSAGE,
  headerPrefixes: env.HEADER_PREFIXES,
  allowedDestinations: env.ALLOWED_DESTINATIONS,
  outboundProxies: env.OUTBOUND_PROXIES,
  destinations: env.DESTINATIONS,
  lambdaDestinations: env.LAMBDA_DESTINATIONS,
  longestTimeoutSeconds: env.LONGEST_TIMEOUT,
  ownHosts: env.OWN_HOSTS,
  learnHosts: env.LEARN_HOSTS === 'true',
  isTraced: env.TRACING === 'true',
  apiUrl: env.API_URL,
  keptConnections: env.KEPT_CONNECTIONS,
  memoryMb: env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
  consoleApis: env.CONSOLE_APIS,
} as const;
