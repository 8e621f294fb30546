/** The tables, queues and limits of the service as data, for the CDK app, the local stage and the handlers. */

export interface TableShape {
  readonly variable:
    | 'MESSAGES_TABLE'
    | 'DLQ_TABLE'
    | 'ACCOUNTS_TABLE'
    | 'GROUPS_TABLE'
    | 'LANES_TABLE'
    | 'WORKFLOWS_TABLE'
    | 'SCHEDULES_TABLE'
    | 'DEDUPLICATION_TABLE'
    | 'USAGE_TABLE';
  readonly partitionKey: string;
  readonly sortKey?: string;
  /** The attribute with the time to live: epoch seconds after which DynamoDB may delete the row. */
  readonly ttl?: string;
  /** Global secondary indexes. An index has only rows with its sort key. */
  readonly indexes: readonly {
    readonly name: string;
    readonly partitionKey: string;
    readonly sortKey: string;
    readonly sortsBy: 'number' | 'text';
    /** The attributes in the index besides the keys; all by default. */
    readonly includes?: readonly string[];
  }[];
}

export const tables = {
  /** Messages and their bodies. After each message come its recorded attempts. */
  messages: {
    variable: 'MESSAGES_TABLE',
    partitionKey: 'shard',
    sortKey: 'id',
    ttl: 'expiresAt',
    // The log, by time. It has only attempts and cancellations, because other rows have no `recordedAt`.
    indexes: [{ name: 'log', partitionKey: 'shard', sortKey: 'recordedAt', sortsBy: 'number' }],
  },
  /** Dead letters, and the counts of each account's dead letters. */
  dlq: {
    variable: 'DLQ_TABLE',
    partitionKey: 'shard',
    sortKey: 'id',
    ttl: 'expiresAt',
    // When a dead letter is removed, its row loses `presentSince`. So the index has only existing ones.
    indexes: [
      {
        name: 'present',
        partitionKey: 'shard',
        sortKey: 'presentSince',
        sortsBy: 'number',
        includes: ['dlqExpiresAt'],
      },
    ],
  },
  groups: { variable: 'GROUPS_TABLE', partitionKey: 'accountId', sortKey: 'name', indexes: [] },
  /** Queues, flow-control keys and accounts, each with its waiting line in pages. */
  lanes: {
    variable: 'LANES_TABLE',
    partitionKey: 'lane',
    sortKey: 'part',
    ttl: 'expiresAt',
    // The names of queues and keys. A page has no name, and the keys of a lane never change, so a change of a
    // lane does not write the index.
    indexes: [{ name: 'names', partitionKey: 'owner', sortKey: 'name', sortsBy: 'text', includes: [] }],
  },
  /**
   * Journals of workflow runs. Other partitions list an account's runs by time, and the waiters of an event.
   */
  workflows: {
    variable: 'WORKFLOWS_TABLE',
    partitionKey: 'owner',
    sortKey: 'id',
    ttl: 'expiresAt',
    indexes: [],
  },
  /** Schedules. Other partitions have the fires that were handled. */
  schedules: {
    variable: 'SCHEDULES_TABLE',
    partitionKey: 'owner',
    sortKey: 'id',
    ttl: 'expiresAt',
    indexes: [],
  },
  /** Claims on deduplication keys. */
  deduplication: { variable: 'DEDUPLICATION_TABLE', partitionKey: 'id', ttl: 'expiresAt', indexes: [] },
  /**
   * Accounts, their named tokens, and the hosts of APIs. An account's row is written only in its own region.
   * It is also read there if the latest version matters.
   */
  accounts: { variable: 'ACCOUNTS_TABLE', partitionKey: 'id', ttl: 'expiresAt', indexes: [] },
  /**
   * Accounts' daily usage, audit trails, alarms and waiting messages; failed logins; records of jobs that a
   * worker does alone.
   */
  usage: { variable: 'USAGE_TABLE', partitionKey: 'owner', sortKey: 'id', ttl: 'expiresAt', indexes: [] },
} as const satisfies Record<string, TableShape>;
export type TableName = keyof typeof tables;

/** The messaging API is in each region, the management API in the first. */
export const apiNames = ['messaging', 'management'] as const;
export type ApiName = (typeof apiNames)[number];

/** The hosts of a region's API are written only in that region. Account ids contain no `#`. */
export const apiHostsKey = (region: string, api: ApiName): string => `apiHost#${region}#${api}`;

export const tokenKeyPrefix = 'token#';
export const tokenKey = (accountId: string, tokenId: string): string =>
  `${tokenKeyPrefix}${accountId}#${tokenId}`;

export const auditedPrefix = 'audit#';
export const auditedOwner = (accountId: string): string => `${auditedPrefix}${accountId}`;

/**
 * The holders of slots that processes lease. A local stage removes their leases when it starts, because no
 * process has survived.
 */
export const processLeases = 'processes';

/**
 * The beginning of the keys of suspect jobs' starts in the usage table: see `worker/starts.ts`. A local stage
 * removes these starts, too.
 */
export const startsPrefix = 'begun#';

/**
 * Lifetimes of bodies in the bucket, in days. An object's key starts with `<days>d/`, and a lifecycle rule
 * deletes older objects. The longest suffices for a message that is delayed by a year and retried daily.
 */
export const bodyLifetimesDays = [16, 32, 64, 128, 256, 512, 1024] as const;

/** The longest timeout of an attempt in the short queue. */
export const shortTimeoutMs = 30_000;

/**
 * Seconds. Lambda ends a function after 900 s, and one on a managed instance after 90 minutes. The worker
 * needs one or two of these minutes to read and record. On one machine, SQS hides a message for at most 12
 * hours.
 */
export const longestTimeoutSeconds = { functions: 840, instances: 5_280, machine: 43_200 } as const;
export type LongDelivery = Exclude<keyof typeof longestTimeoutSeconds, 'machine'>;

/** The longest timeout that a function waits for. */
export const longTimeoutMs = longestTimeoutSeconds.functions * 1_000;

/** API Gateway gives up after 29 s, so the function ends earlier. */
export const apiFunctionTimeoutSeconds = 28;

/** MB. With less memory a function also has less CPU, and requests are slower. */
export const functionMemoryMb = 512;

/** MB by default. With more, waiting for a destination's answer costs more. */
export const deliveryMemoryMb = 384;

/** Memory for long lists and large results that a process handles at once: a quarter of the function's. */
export const largeWorkBytes = (memoryMb: number): number => (memoryMb / 4) * 1_024 * 1_024;

/**
 * Memory for lists of runs that a process keeps. The list of the largest group of parallel steps takes half
 * of it.
 */
export const knownRunsBytes = 24 * 1_024 * 1_024;

/** MB that Node.js and the code need, and that a message of 4 MiB with an equally large answer needs. */
const codeMb = 100;
const messageMb = 24;

/**
 * The most messages of 4 MiB that fit into a function's memory, besides its large work and its lists of runs.
 */
export const messagesInMemory = (memoryMb: number): number =>
  Math.floor((memoryMb - codeMb - (largeWorkBytes(memoryMb) + knownRunsBytes) / 2 ** 20) / messageMb);

/**
 * The range of a delivery function's memory, MB. The least fits two messages. With the most, the function for
 * slow hosts stays below Lambda's maximum of 10,240.
 */
export const leastDeliveryMemoryMb = 256;
export const mostDeliveryMemoryMb = 2_925;

export interface QueueShape {
  readonly handler: string | undefined;
  readonly functionTimeoutSeconds: number;
  readonly batchSize: number;
  /** More memory, by this factor, for larger batches. */
  readonly memoryFactor?: number;
  /** The queue for messages that were received {@link maxReceives} times. */
  readonly redrivesTo: string | undefined;
}

/**
 * The SQS queues, with the timing of their functions. A function's timeout is longer than the timeouts of its
 * messages. Queues with few messages have batches of one, so that a message that kills its worker does no
 * other harm.
 */
export const queues = {
  /** Attempts with a timeout of at most 30 s, and pumps of waiting lines. */
  short: { handler: 'deliver', functionTimeoutSeconds: 60, batchSize: 10, redrivesTo: 'dead' },
  /** All other attempts. */
  long: { handler: 'deliver', functionTimeoutSeconds: 900, batchSize: 10, redrivesTo: 'dead' },
  /**
   * Attempts at slow hosts. They were in a batch with fast ones, and an invocation lasts as long as its
   * slowest attempt. So one invocation here waits for many attempts: for 50 messages of 4 MiB with equally
   * large answers.
   */
  slow: {
    handler: 'deliver',
    functionTimeoutSeconds: 900,
    batchSize: 50,
    memoryFactor: 3.5,
    redrivesTo: 'dead',
  },
  /** Jobs whose workers died. A worker does each alone. If it dies again, the attempt fails. */
  dead: { handler: 'deliverAlone', functionTimeoutSeconds: 900, batchSize: 1, redrivesTo: undefined },
  fire: { handler: 'fire', functionTimeoutSeconds: 60, batchSize: 1, redrivesTo: undefined },
  /** Notices of changed accounts. Other regions send to this queue, so its name is fixed. */
  accountChanges: {
    handler: 'followAccount',
    functionTimeoutSeconds: 300,
    batchSize: 1,
    redrivesTo: undefined,
  },
  /** Fires that Scheduler could not send or that were given up. An operator can send them again. */
  undeliveredFires: { handler: undefined, functionTimeoutSeconds: 0, batchSize: 1, redrivesTo: undefined },
  /**
   * Messages that this release cannot read, and jobs that kill even the worker that gives them up. A later
   * release or an operator sends them back.
   */
  parked: { handler: undefined, functionTimeoutSeconds: 0, batchSize: 1, redrivesTo: undefined },
} as const satisfies Record<string, QueueShape>;
export type QueueName = keyof typeof queues;

export const longAnswerQueues = ['long', 'dead'] as const satisfies readonly QueueName[];

/** The time that a worker on an instance or on one machine needs after the longest attempt. */
const longMarginSeconds = 120;

/** Seconds. @param longest the longest timeout of a message, in seconds: see {@link longestTimeoutSeconds} */
export const functionSecondsOf = (name: QueueName, longest: number): number =>
  longest > longestTimeoutSeconds.functions && longAnswerQueues.some((one) => one === name)
    ? longest + longMarginSeconds
    : queues[name].functionTimeoutSeconds;

export const queueNames = Object.keys(queues).filter((name): name is QueueName => name in queues);

const marginSeconds = 45;

/** How long a message in a queue without a function is hidden after someone reads it. */
const lookedAtSeconds = 900;

/** Seconds. A setting may change the short queue's. */
export const batchingWindows: Readonly<Record<QueueName, number>> = {
  short: 0,
  long: 0,
  // Lambda requires a window of at least a second for batches over ten.
  slow: 1,
  dead: 0,
  fire: 0,
  accountChanges: 0,
  undeliveredFires: 0,
  parked: 0,
};

/**
 * Returns how long a received message is hidden, unless its worker changes it: see `worker/hold.ts`. AWS
 * recommends six times the function's timeout plus the batching window, so that Lambda can retry while it has
 * no capacity ("Creating and configuring an Amazon SQS event source mapping"). A little more makes the last
 * of {@link maxReceives} receives happen after an hour.
 */
export function visibilitySecondsOf(name: QueueName, windowSeconds = batchingWindows[name]): number {
  const { functionTimeoutSeconds }: QueueShape = queues[name];
  return functionTimeoutSeconds === 0
    ? lookedAtSeconds
    : 6 * functionTimeoutSeconds + windowSeconds + marginSeconds;
}

/** Invocations shorter than this do not change how long their messages are hidden: see `worker/hold.ts`. */
export const holdAfterMs = 500;

/** Lambda's longest batching window, in seconds ("Lambda parameters for Amazon SQS event source mappings"). */
export const mostBatchingWindow = 300;

/**
 * The functions that run periodically. A record stays in the log for at least a week, but hourly runs of
 * `countOutcomes` have little to read. `lookForAlarms` ends before its next start.
 */
export const timers = {
  countOutcomes: { everyMinutes: 60, functionTimeoutSeconds: 900 },
  redrive: { everyMinutes: 60, functionTimeoutSeconds: 300 },
  lookForAlarms: { everyMinutes: 5, functionTimeoutSeconds: 240 },
} as const;
export type TimedFunction = keyof typeof timers;

/** The most concurrent executions that count outcomes. Large accounts have 32 shards. */
export const mostCountingParts = 32;

/**
 * Concurrent executions of each of the three delivery queues. An AWS account has 1,000 in a region.
 * Destinations that do not answer can occupy 600 of them, so most of the rest is left to the API.
 */
export const deliveryConcurrency = 200;

export const aloneConcurrency = 20;

/** Many schedules fire at a full hour. Their fires wait for each other, and do not delay requests. */
export const fireConcurrency = 50;

export const followConcurrency = 10;

/** Lambda's range for the maximum concurrency of a queue. */
export const leastConcurrency = 2;
export const mostConcurrency = 1_000;

/**
 * A job that is received this often in batches moves to `dead`. After an error, a job is sent again as a new
 * message. So a job is received again only if its worker died, or if Lambda had no capacity for the whole
 * visibility timeout. Ten receives take at least an hour.
 */
export const maxReceives = 10;

/**
 * A job is given up after this many workers died while they did only this job. After twice as many, giving it
 * up must kill workers too, and it is parked.
 */
export const mostDeaths = 3;

/** The time for which a queue keeps a message: 14 days, SQS's maximum. */
export const retentionSeconds = 1_209_600;

/**
 * The dimension `service` of all metrics. All functions share it, so CloudWatch bills a metric once per
 * region, and an alarm need not add up functions.
 */
export const metricsService = 'messaging';

export const defaultHeaderPrefixes: readonly string[] = ['Svc', 'Upstash'];

export const defaultPricePerMessage = 0.000_01;
