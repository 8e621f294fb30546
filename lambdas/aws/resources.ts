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
  /** Global secondary indexes. A row without the sort key is not in the index. */
  readonly indexes: readonly {
    readonly name: string;
    readonly partitionKey: string;
    readonly sortKey: string;
    readonly sortsBy: 'number' | 'text';
    /** Attributes in addition to the keys. The default is all. */
    readonly includes?: readonly string[];
  }[];
}

export const tables = {
  /** Messages, each followed by its recorded attempts, and bodies. */
  messages: {
    variable: 'MESSAGES_TABLE',
    partitionKey: 'shard',
    sortKey: 'id',
    ttl: 'expiresAt',
    // The log, by time. Only attempts and cancellations have `recordedAt`.
    indexes: [{ name: 'log', partitionKey: 'shard', sortKey: 'recordedAt', sortsBy: 'number' }],
  },
  /** Dead letters, and a row for each account that counts them. */
  dlq: {
    variable: 'DLQ_TABLE',
    partitionKey: 'shard',
    sortKey: 'id',
    ttl: 'expiresAt',
    // A removed entry loses `presentSince`, so the oldest entries are found without reading it.
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
  /** Queues, flow-control keys and accounts, and the waiting line of each, in pages. */
  lanes: {
    variable: 'LANES_TABLE',
    partitionKey: 'lane',
    sortKey: 'part',
    ttl: 'expiresAt',
    // The names of queues or keys. Pages have no name, and a lane's keys never change, so writing a lane never writes the
    // index.
    indexes: [{ name: 'names', partitionKey: 'owner', sortKey: 'name', sortsBy: 'text', includes: [] }],
  },
  /** Journals of workflow runs; in separate partitions, an account's runs by time, and the waiters of an event. */
  workflows: {
    variable: 'WORKFLOWS_TABLE',
    partitionKey: 'owner',
    sortKey: 'id',
    ttl: 'expiresAt',
    indexes: [],
  },
  /** Schedules; in separate partitions, handled fires. */
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
   * Accounts, their named tokens, and the hosts of APIs. An account's row is written only in its own region, and read there if
   * the latest version matters.
   */
  accounts: { variable: 'ACCOUNTS_TABLE', partitionKey: 'id', ttl: 'expiresAt', indexes: [] },
  /** Accounts' daily usage, audit trails, alarms and waiting messages; failed logins; jobs that a worker started alone. */
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

/** The slots that processes hold in a lane. A local stage removes them when it starts, because no process has survived. */
export const processLeases = 'processes';

/** Owners of the starts of suspect jobs in the usage table: see `worker/starts.ts`. A local stage removes these too. */
export const startsPrefix = 'begun#';

/**
 * The lifetimes of bodies in the bucket, in days. An object's key starts with `<days>d/`, and a lifecycle rule deletes older
 * objects. The longest is enough for a message that is delayed by a year and retried daily.
 */
export const bodyLifetimesDays = [16, 32, 64, 128, 256, 512, 1024] as const;

/** The longest timeout of a message in the short queue. */
export const shortTimeoutMs = 30_000;

/**
 * Seconds. Lambda ends a function after 900 s, and one on a managed instance after 90 minutes; the worker needs a minute or two
 * of this to read and record. One machine waits as long as SQS can hide a message: 12 hours.
 */
export const longestTimeoutSeconds = { functions: 840, instances: 5_280, machine: 43_200 } as const;
export type LongDelivery = Exclude<keyof typeof longestTimeoutSeconds, 'machine'>;

/** The longest timeout that a function waits for. */
export const longTimeoutMs = longestTimeoutSeconds.functions * 1_000;

/** API Gateway gives up after 29 s, so the function ends earlier. */
export const apiFunctionTimeoutSeconds = 28;

/** MB. CPU grows with it: less makes requests slower. */
export const functionMemoryMb = 512;

/** MB by default. More costs more while a delivery waits. */
export const deliveryMemoryMb = 384;

/** Bytes for long lists and large results that a process handles at once: a quarter of its memory. */
export const largeWorkBytes = (memoryMb: number): number => (memoryMb / 4) * 1_024 * 1_024;

/** Bytes for lists of runs that a process keeps. The list of the largest group of parallel steps takes half of them. */
export const knownRunsBytes = 24 * 1_024 * 1_024;

/** MB of Node.js and the code, and of a message of 4 MiB with an answer of the same size. */
const codeMb = 100;
const messageMb = 24;

/** The most messages of 4 MiB that fit into a function beside its large work and its lists of runs. */
export const messagesInMemory = (memoryMb: number): number =>
  Math.floor((memoryMb - codeMb - (largeWorkBytes(memoryMb) + knownRunsBytes) / 2 ** 20) / messageMb);

/**
 * A delivery function's memory, MB. The least fits two messages. The most keeps the function for slow hosts below Lambda's
 * 10,240.
 */
export const leastDeliveryMemoryMb = 256;
export const mostDeliveryMemoryMb = 2_925;

export interface QueueShape {
  readonly handler: string | undefined;
  readonly functionTimeoutSeconds: number;
  readonly batchSize: number;
  /** A factor for larger batches. */
  readonly memoryFactor?: number;
  /** The queue for messages that were received {@link maxReceives} times. */
  readonly redrivesTo: string | undefined;
}

/**
 * The SQS queues, with the timing of their functions. A function's timeout exceeds those of its messages. Queues with few
 * messages have batches of one, so a message that kills its worker kills nothing else.
 */
export const queues = {
  /** Attempts that wait at most 30 s for their answer, and pumps of waiting lines. */
  short: { handler: 'deliver', functionTimeoutSeconds: 60, batchSize: 10, redrivesTo: 'dead' },
  /** All other attempts. */
  long: { handler: 'deliver', functionTimeoutSeconds: 900, batchSize: 10, redrivesTo: 'dead' },
  /**
   * Attempts at slow hosts that were in a batch with fast ones. An invocation lasts as long as its slowest attempt, so here one
   * waits for many: for 50 messages of 4 MiB with answers of the same size.
   */
  slow: {
    handler: 'deliver',
    functionTimeoutSeconds: 900,
    batchSize: 50,
    memoryFactor: 3.5,
    redrivesTo: 'dead',
  },
  /** Jobs whose workers died. Each is done alone, and an attempt fails if it kills its workers again. */
  dead: { handler: 'deliverAlone', functionTimeoutSeconds: 900, batchSize: 1, redrivesTo: undefined },
  fire: { handler: 'fire', functionTimeoutSeconds: 60, batchSize: 1, redrivesTo: undefined },
  /** Changed accounts. Other regions send to it, so its name is fixed. */
  accountChanges: {
    handler: 'followAccount',
    functionTimeoutSeconds: 300,
    batchSize: 1,
    redrivesTo: undefined,
  },
  /** Fires that Scheduler could not send or that were given up, for an operator to send again. */
  undeliveredFires: { handler: undefined, functionTimeoutSeconds: 0, batchSize: 1, redrivesTo: undefined },
  /**
   * Messages that this release cannot read, and jobs that kill even the worker that gives them up. A later release or an
   * operator sends them back.
   */
  parked: { handler: undefined, functionTimeoutSeconds: 0, batchSize: 1, redrivesTo: undefined },
} as const satisfies Record<string, QueueShape>;
export type QueueName = keyof typeof queues;

/** `dead` gets the jobs whose workers died. */
export const longAnswerQueues = ['long', 'dead'] as const satisfies readonly QueueName[];

/** The time that a worker needs after the longest attempt, on an instance and on one machine. */
const longMarginSeconds = 120;

/** Seconds. @param longest the longest timeout of a message, in seconds: see {@link longestTimeoutSeconds} */
export const functionSecondsOf = (name: QueueName, longest: number): number =>
  longest > longestTimeoutSeconds.functions && longAnswerQueues.some((one) => one === name)
    ? longest + longMarginSeconds
    : queues[name].functionTimeoutSeconds;

export const queueNames = Object.keys(queues).filter((name): name is QueueName => name in queues);

const marginSeconds = 45;

/** How long a queue without a function hides a message that somebody reads. */
const lookedAtSeconds = 900;

/** Seconds. A setting may change it for the short queue. */
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
 * Returns how long a received message is hidden, unless its worker changes it: see `worker/hold.ts`. It is a little over six
 * times the function's timeout and batching window, so Lambda can retry while it has no capacity ("Creating and configuring an
 * Amazon SQS event source mapping"), and the last of {@link maxReceives} receives is after an hour.
 */
export function visibilitySecondsOf(name: QueueName, windowSeconds = batchingWindows[name]): number {
  const { functionTimeoutSeconds }: QueueShape = queues[name];
  return functionTimeoutSeconds === 0
    ? lookedAtSeconds
    : 6 * functionTimeoutSeconds + windowSeconds + marginSeconds;
}

/** A shorter invocation does not extend its messages' visibility: see `worker/hold.ts`. */
export const holdAfterMs = 500;

/** Lambda's longest batching window, in seconds ("Lambda parameters for Amazon SQS event source mappings"). */
export const mostBatchingWindow = 300;

/**
 * The functions that run periodically. The log keeps a record for at least a week, but `countOutcomes` reads little if it runs
 * hourly. `lookForAlarms` ends before its next start.
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
 * For each of the three delivery queues. An AWS account has 1,000 concurrent executions in a region. Destinations that do not
 * answer can hold 600 of them, so the API keeps most of the rest.
 */
export const deliveryConcurrency = 200;

export const aloneConcurrency = 20;

/** Many schedules fire at a full hour. They wait for each other instead of delaying requests. */
export const fireConcurrency = 50;

export const followConcurrency = 10;

/** Lambda's range for the maximum concurrency of a queue. */
export const leastConcurrency = 2;
export const mostConcurrency = 1_000;

/**
 * A job that is received this often in batches moves to `dead`. After an error a job is sent again as a new message, so
 * receives mean that workers died, or that Lambda had no capacity during the whole visibility timeout. Ten take at least an
 * hour.
 */
export const maxReceives = 10;

/**
 * A job is given up after this many workers died while they did only this job. After twice as many, even giving it up kills
 * workers, and it is parked.
 */
export const mostDeaths = 3;

/** The time for which a queue keeps a message: 14 days, SQS's maximum. */
export const retentionSeconds = 1_209_600;

/**
 * The dimension `service` of every metric. All functions share it, so CloudWatch bills a metric once for a region, and an alarm
 * needs no sum over functions.
 */
export const metricsService = 'messaging';

export const defaultHeaderPrefixes: readonly string[] = ['Svc', 'Upstash'];

/** Dollars. */
export const defaultPricePerMessage = 0.000_01;
