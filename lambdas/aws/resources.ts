/** The tables, queues and limits of the service as data, for the CDK app, the local stage and the handlers. */

export interface TableShape {
  /** The environment variable with the table's name. */
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
    /** Attributes of the index in addition to the keys. The default is all. */
    readonly includes?: readonly string[];
  }[];
}

export const tables = {
  /** Messages, each followed by a row for every recorded attempt, and bodies. */
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
    // A removed entry loses `presentSince`, so a search for the oldest entries does not read removed ones.
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
  /** Lanes (the queues that accounts make, flow-control keys, and accounts), and the waiting line of each, in pages. */
  lanes: {
    variable: 'LANES_TABLE',
    partitionKey: 'lane',
    sortKey: 'part',
    ttl: 'expiresAt',
    // The names of an account's queues or keys. Pages have no name, and a lane's keys never change, so writing a lane never
    // writes the index.
    indexes: [{ name: 'names', partitionKey: 'owner', sortKey: 'name', sortsBy: 'text', includes: [] }],
  },
  /** The journals of workflow runs; in separate partitions, an account's runs by time, and the waiters of an event. */
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
   * Accounts, their named tokens, and the hosts of APIs. The only table with replicas in all regions. An account's row is
   * written only in its own region, and read there if the latest version matters.
   */
  accounts: { variable: 'ACCOUNTS_TABLE', partitionKey: 'id', ttl: 'expiresAt', indexes: [] },
  /**
   * The usage of each account by day, and its audit trail; accounts' alarms; failed logins; jobs that a worker started alone.
   */
  usage: { variable: 'USAGE_TABLE', partitionKey: 'owner', sortKey: 'id', ttl: 'expiresAt', indexes: [] },
} as const satisfies Record<string, TableShape>;
export type TableName = keyof typeof tables;

/** The messaging API is in each region, the management API in the first. */
export const apiNames = ['messaging', 'management'] as const;
export type ApiName = (typeof apiNames)[number];

/**
 * The key in the accounts table of a row with the hosts of a region's API. It is written only in that region. Account ids
 * contain no `#`.
 */
export const apiHostsKey = (region: string, api: ApiName): string => `apiHost#${region}#${api}`;

/** The prefix of the keys of named tokens in the accounts table. */
export const tokenKeyPrefix = 'token#';
export const tokenKey = (accountId: string, tokenId: string): string =>
  `${tokenKeyPrefix}${accountId}#${tokenId}`;

/** The partition of an account's audit trail in the usage table. */
export const auditedPrefix = 'audit#';
export const auditedOwner = (accountId: string): string => `${auditedPrefix}${accountId}`;

/**
 * The attribute of a lane with the slots that processes hold. A local stage removes it from all lanes when it starts, because
 * no process of the stage has survived.
 */
export const processLeases = 'processes';

/**
 * The lifetimes of bodies in the bucket, in days. An object's key starts with `<days>d/`, and a lifecycle rule for each deletes
 * older objects. The longest is enough for a message that is delayed by a year and then retried at intervals of a day.
 */
export const bodyLifetimesDays = [16, 32, 64, 128, 256, 512, 1024] as const;

/** The longest timeout of a message in the short queue. All others are in the long one. */
export const shortTimeoutMs = 30_000;

/**
 * The longest timeout of a message, in seconds, by what waits for the answer. Lambda ends a function after 900 s, and one on a
 * managed instance after 90 minutes; the worker needs a minute or two of this to read and record. One machine waits as long as
 * SQS can hide a message: 12 hours.
 */
export const longestTimeoutSeconds = { functions: 840, instances: 5_280, machine: 43_200 } as const;
export type LongDelivery = Exclude<keyof typeof longestTimeoutSeconds, 'machine'>;

/** The longest timeout of a message that a function waits for. */
export const longTimeoutMs = longestTimeoutSeconds.functions * 1_000;

/** API Gateway gives up after 29 s, so the function ends earlier. */
export const apiFunctionTimeoutSeconds = 28;

/** A function's default memory, MB. CPU grows with it: less makes requests slower, more costs more while a delivery waits. */
export const functionMemoryMb = 512;

/** Bytes for long lists and large results that a process handles at once: a quarter of its memory. */
export const largeWorkBytes = (memoryMb: number): number => (memoryMb / 4) * 1_024 * 1_024;

/** Bytes for lists of runs that a process keeps. The list of the largest group of parallel steps takes half of them. */
export const knownRunsBytes = 24 * 1_024 * 1_024;

/** MB of Node.js and the code, and of an ordinary message of 4 MiB with an answer of the same size. */
const codeMb = 100;
const messageMb = 24;

/** The most messages of 4 MiB that fit into a function at once, beside its large work and its lists of runs. */
export const messagesInMemory = (memoryMb: number): number =>
  Math.floor((memoryMb - codeMb - (largeWorkBytes(memoryMb) + knownRunsBytes) / 2 ** 20) / messageMb);

/**
 * The range of a delivery function's memory, MB. The least fits two messages. The most keeps the one for slow hosts below
 * Lambda's 10,240.
 */
export const leastDeliveryMemoryMb = 256;
export const mostDeliveryMemoryMb = 2_925;

export interface QueueShape {
  /** The handler of the function that the queue invokes. */
  readonly handler: string | undefined;
  readonly functionTimeoutSeconds: number;
  /** The most messages of one invocation. */
  readonly batchSize: number;
  /** How many times the usual memory the function has, for a larger batch. */
  readonly memoryFactor?: number;
  /** The queue for messages that were received {@link maxReceives} times. */
  readonly redrivesTo: string | undefined;
}

/**
 * The SQS queues, with the timing of their functions. A function's timeout is longer than the longest timeout of its messages.
 * Queues with few messages have batches of one, so a message that kills its worker kills nothing else.
 */
export const queues = {
  /** Attempts that wait at most 30 s for their answer, and pumps of waiting lines. */
  short: { handler: 'deliver', functionTimeoutSeconds: 60, batchSize: 10, redrivesTo: 'dead' },
  /** All other attempts. */
  long: { handler: 'deliver', functionTimeoutSeconds: 900, batchSize: 10, redrivesTo: 'dead' },
  /**
   * Attempts at slow hosts that were in a batch with fast ones. An invocation lasts as long as its slowest attempt, so here one
   * waits for many. It fits 50 messages of 4 MiB with answers of the same size.
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
  /** Changed accounts that this region must follow. Other regions send to it, so its name is fixed. */
  accountChanges: {
    handler: 'followAccount',
    functionTimeoutSeconds: 300,
    batchSize: 1,
    redrivesTo: undefined,
  },
  /** Fires that Scheduler could not send or that were given up. They stay until an operator sends them again. */
  undeliveredFires: { handler: undefined, functionTimeoutSeconds: 0, batchSize: 1, redrivesTo: undefined },
  /**
   * Messages that this release cannot read, and jobs that kill even the worker that gives them up. A later release or an
   * operator sends them back.
   */
  parked: { handler: undefined, functionTimeoutSeconds: 0, batchSize: 1, redrivesTo: undefined },
} as const satisfies Record<string, QueueShape>;
export type QueueName = keyof typeof queues;

/** The queues whose functions wait for long answers. `dead` gets those whose workers died. */
export const longAnswerQueues = ['long', 'dead'] as const satisfies readonly QueueName[];

/** The time between the end of the longest attempt and the end of its function, on an instance and on one machine. */
const longMarginSeconds = 120;

/**
 * Returns the timeout of a queue's function, in seconds.
 *
 * @param longest the longest timeout of a message, in seconds: see {@link longestTimeoutSeconds}
 */
export const functionSecondsOf = (name: QueueName, longest: number): number =>
  longest > longestTimeoutSeconds.functions && longAnswerQueues.some((one) => one === name)
    ? longest + longMarginSeconds
    : queues[name].functionTimeoutSeconds;

export const queueNames = Object.keys(queues).filter((name): name is QueueName => name in queues);

const marginSeconds = 45;

/** How long a queue without a function hides a message that somebody reads. */
const lookedAtSeconds = 900;

/** Seconds for which Lambda gathers messages for an invocation. A setting may change it for the short queue. */
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
 * Amazon SQS event source mapping" in Lambda's guide), and the last of {@link maxReceives} receives is after an hour.
 */
export function visibilitySecondsOf(name: QueueName, windowSeconds = batchingWindows[name]): number {
  const { functionTimeoutSeconds }: QueueShape = queues[name];
  return functionTimeoutSeconds === 0
    ? lookedAtSeconds
    : 6 * functionTimeoutSeconds + windowSeconds + marginSeconds;
}

/**
 * A shorter invocation does not extend its messages' visibility: see `worker/hold.ts`. Most destinations answer within this
 * time.
 */
export const holdAfterMs = 500;

/** Lambda's longest batching window, in seconds ("Lambda parameters for Amazon SQS event source mappings"). */
export const mostBatchingWindow = 300;

/**
 * The functions that run periodically. The log keeps a record for at least a week, and `countOutcomes` reads it hourly, so each
 * time it reads little. `redrive` sends parked messages back after a release. `lookForAlarms` ends before its next start.
 */
export const timers = {
  countOutcomes: { everyMinutes: 60, functionTimeoutSeconds: 900 },
  redrive: { everyMinutes: 60, functionTimeoutSeconds: 300 },
  lookForAlarms: { everyMinutes: 5, functionTimeoutSeconds: 240 },
} as const;
export type TimedFunction = keyof typeof timers;

/** The most concurrent executions that count outcomes. Each counts whole shards, and large accounts have 32. */
export const mostCountingParts = 32;

/**
 * The default maximum of concurrent executions for each of the three delivery queues. An AWS account has 1,000 in a region.
 * Destinations that do not answer can hold 600 of them, so the API keeps most of the rest.
 */
export const deliveryConcurrency = 200;

/** The maximum for the queue `dead`, which has little to do. */
export const aloneConcurrency = 20;

/**
 * The maximum for fires. Many schedules fire at a full hour; they wait for each other instead of delaying the API's requests.
 */
export const fireConcurrency = 50;

/** The maximum for changes of accounts, which are rare. */
export const followConcurrency = 10;

/** Lambda's range for the maximum concurrency of a queue. */
export const leastConcurrency = 2;
export const mostConcurrency = 1_000;

/**
 * A job that is received this often in batches moves to `dead`. Workers send a job again as a new message after an error. So
 * the only receives that count are those whose worker died, and those for which Lambda had no capacity during the whole
 * visibility timeout. Ten take at least an hour.
 */
export const maxReceives = 10;

/**
 * A job is given up after it was alone in this many workers that died. After twice as many, even giving it up kills workers,
 * and it is parked.
 */
export const mostDeaths = 3;

/** The time for which a queue keeps a message: 14 days, SQS's maximum. */
export const retentionSeconds = 1_209_600;

/**
 * The value of the dimension `service` of every metric. All functions share it, so CloudWatch bills a metric once for a region,
 * and an alarm needs no sum over functions.
 */
export const metricsService = 'messaging';

/** The default prefixes of request headers, on AWS and on the local stage. */
export const defaultHeaderPrefixes: readonly string[] = ['Svc', 'Upstash'];

/** The default price of a message in dollars, for its account's budget. */
export const defaultPricePerMessage = 0.000_01;
