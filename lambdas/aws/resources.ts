/**
 * The tables, queues and limits of the service as plain data. The CDK app makes them in AWS from this, the local stage makes them
 * on a laptop, and the handlers read the keys of rows from it. Like the route table, it is shared by all three.
 */

export interface TableShape {
  /** The environment variable that has the table's name. */
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
  /** Keys are strings. */
  readonly partitionKey: string;
  readonly sortKey?: string;
  /** The attribute with the time to live: epoch seconds after which DynamoDB may remove the row. */
  readonly ttl?: string;
  /** Global secondary indexes. A row without the sort key is not in the index. */
  readonly indexes: readonly {
    readonly name: string;
    readonly partitionKey: string;
    readonly sortKey: string;
    readonly sortsBy: 'number' | 'text';
    /** The attributes that the index has besides the keys: none when empty, all when absent. */
    readonly includes?: readonly string[];
  }[];
}

export const tables = {
  /** Messages, and after each a row for every recorded attempt; bodies too. */
  messages: {
    variable: 'MESSAGES_TABLE',
    partitionKey: 'shard',
    sortKey: 'id',
    ttl: 'expiresAt',
    // The log, by time. Only attempts and cancellations have `recordedAt`, so only they are in the index.
    indexes: [{ name: 'log', partitionKey: 'shard', sortKey: 'recordedAt', sortsBy: 'number' }],
  },
  /** Dead letters, and a row for each account that counts them. */
  dlq: {
    variable: 'DLQ_TABLE',
    partitionKey: 'shard',
    sortKey: 'id',
    ttl: 'expiresAt',
    // A removed entry loses `presentSince`, so the oldest entries are found without reading removed ones.
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
  /** URL groups. */
  groups: { variable: 'GROUPS_TABLE', partitionKey: 'accountId', sortKey: 'name', indexes: [] },
  /** Lanes: the queues that accounts make, flow-control keys, and accounts; and the waiting line of each, in pages. */
  lanes: {
    variable: 'LANES_TABLE',
    partitionKey: 'lane',
    sortKey: 'part',
    ttl: 'expiresAt',
    // The names of an account's queues, or of its keys. Pages have no name, and a lane's keys never change, so the index adds no
    // cost to the write of a lane.
    indexes: [{ name: 'names', partitionKey: 'owner', sortKey: 'name', sortsBy: 'text', includes: [] }],
  },
  /**
   * Runs of workflows: the journal of each; and in separate partitions, an account's runs by time, and the waiters of an
   * event.
   */
  workflows: {
    variable: 'WORKFLOWS_TABLE',
    partitionKey: 'owner',
    sortKey: 'id',
    ttl: 'expiresAt',
    indexes: [],
  },
  /** Schedules; and in separate partitions, the fires that were handled. */
  schedules: {
    variable: 'SCHEDULES_TABLE',
    partitionKey: 'owner',
    sortKey: 'id',
    ttl: 'expiresAt',
    indexes: [],
  },
  /** Claims on the keys by which messages of the last minutes count as duplicates. */
  deduplication: { variable: 'DEDUPLICATION_TABLE', partitionKey: 'id', ttl: 'expiresAt', indexes: [] },
  /**
   * Accounts, their named tokens, and the hosts of APIs. This is the one table with replicas in all regions. An account's row is written in its own
   * region only, and read there wherever the latest version matters.
   */
  accounts: { variable: 'ACCOUNTS_TABLE', partitionKey: 'id', ttl: 'expiresAt', indexes: [] },
  /** The usage of each account by day, and its audit trail; accounts' alarms; failed logins; jobs that a worker began alone. */
  usage: { variable: 'USAGE_TABLE', partitionKey: 'owner', sortKey: 'id', ttl: 'expiresAt', indexes: [] },
} as const satisfies Record<string, TableShape>;
export type TableName = keyof typeof tables;

/** The APIs of a deployment: the messaging API in each region, the management API in the first. */
export const apiNames = ['messaging', 'management'] as const;
export type ApiName = (typeof apiNames)[number];

/**
 * The key of a row of the accounts table with the hosts of a region's API, which is written in that region only. No account has a
 * `#` in its id.
 */
export const apiHostsKey = (region: string, api: ApiName): string => `apiHost#${region}#${api}`;

/** The keys of the rows of named tokens begin with this prefix, in the accounts' table. */
export const tokenKeyPrefix = 'token#';
export const tokenKey = (accountId: string, tokenId: string): string =>
  `${tokenKeyPrefix}${accountId}#${tokenId}`;

/** The partition of an account's audit trail, in the usage table. */
export const auditedPrefix = 'audit#';
export const auditedOwner = (accountId: string): string => `${auditedPrefix}${accountId}`;

/**
 * The attribute of a lane with the slots that processes hold. The start of a local stage removes it from all lanes, because every
 * process of the stage has ended.
 */
export const processLeases = 'processes';

/**
 * The lifetimes of bodies in the bucket, in days. An object's key starts with its lifetime, `<days>d/`, and a lifecycle rule for
 * each deletes older objects. The longest must hold a message that is delayed by a year and then retried a day apart.
 */
export const bodyLifetimesDays = [16, 32, 64, 128, 256, 512, 1024] as const;

/** Messages whose timeout is at most this go through the short queue, all others through the long one. */
export const shortTimeoutMs = 30_000;

/**
 * The longest timeout of a message, in seconds, by what waits for the answer. Lambda ends a function after 900 s, and one on a managed
 * instance after 90 minutes; the worker needs a minute or two of it to read and to record. A process of one machine waits for as long
 * as SQS can hide a message: 12 hours.
 */
export const longestTimeoutSeconds = { functions: 840, instances: 5_280, machine: 43_200 } as const;
export type LongDelivery = Exclude<keyof typeof longestTimeoutSeconds, 'machine'>;

/** The longest timeout of a message that a function waits for. */
export const longTimeoutMs = longestTimeoutSeconds.functions * 1_000;

/** The timeout of a function behind an API. API Gateway gives up after 29 s, so the function ends before. */
export const apiFunctionTimeoutSeconds = 28;

/** MB of a function's memory by default. CPU comes with it: less makes a cold start and each request slower, more costs more while a delivery waits. */
export const functionMemoryMb = 512;

/** Bytes that a process holds at once for deliveries of long lists and for large results, a quarter of its memory. */
export const largeWorkBytes = (memoryMb: number): number => (memoryMb / 4) * 1_024 * 1_024;

/** Bytes that a process keeps of the lists of runs: the list of the largest group of parallel steps takes half of them. */
export const knownRunsBytes = 24 * 1_024 * 1_024;

/** MB that Node.js and the code take, and that an ordinary message of 4 MiB takes with an answer as large. */
const codeMb = 100;
const messageMb = 24;

/** The most messages of 4 MiB that a function has room for at once, beside its large work and its lists of runs. */
export const messagesInMemory = (memoryMb: number): number =>
  Math.floor((memoryMb - codeMb - (largeWorkBytes(memoryMb) + knownRunsBytes) / 2 ** 20) / messageMb);

/** The least memory of a delivery function, MB: it has room for two messages. The most leaves the one for slow hosts Lambda's 10,240. */
export const leastDeliveryMemoryMb = 256;
export const mostDeliveryMemoryMb = 2_925;

export interface QueueShape {
  /** The handler of the function that the queue invokes. */
  readonly handler: string | undefined;
  readonly functionTimeoutSeconds: number;
  /** The most messages that one invocation gets. */
  readonly batchSize: number;
  /** How many times as much memory as the others the function has: a batch that is larger needs more. */
  readonly memoryFactor?: number;
  /** The queue for messages that were received {@link maxReceives} times. */
  readonly redrivesTo: string | undefined;
}

/**
 * The queues of SQS, each with the timing of the function behind it. A function has more time than the longest timeout of its
 * queue's messages. In queues with few messages a batch is one message: if it kills its worker, it kills nothing else.
 */
export const queues = {
  /** Attempts that wait at most 30 s for their answer, and pumps of waiting lines. */
  short: { handler: 'deliver', functionTimeoutSeconds: 60, batchSize: 10, redrivesTo: 'dead' },
  /** All other attempts. */
  long: { handler: 'deliver', functionTimeoutSeconds: 900, batchSize: 10, redrivesTo: 'dead' },
  /**
   * Attempts at hosts that are known to be slow, which came to another queue together with quick ones. An invocation lasts as long
   * as its slowest attempt, so here one waits for many of them at once. It has room for 50 messages of 4 MiB with answers as large.
   */
  slow: {
    handler: 'deliver',
    functionTimeoutSeconds: 900,
    batchSize: 50,
    memoryFactor: 3.5,
    redrivesTo: 'dead',
  },
  /** Jobs whose workers died: each is done alone, and an attempt fails if it kills its workers again. */
  dead: { handler: 'deliverAlone', functionTimeoutSeconds: 900, batchSize: 1, redrivesTo: undefined },
  /** Fires of schedules. */
  fire: { handler: 'fire', functionTimeoutSeconds: 60, batchSize: 1, redrivesTo: undefined },
  /** Accounts that were changed, and that this region has to follow. Other regions send to it, so its name is fixed. */
  accountChanges: {
    handler: 'followAccount',
    functionTimeoutSeconds: 300,
    batchSize: 1,
    redrivesTo: undefined,
  },
  /** Fires that Scheduler could not send, or that were given up, until an operator sends them again. No function is behind it. */
  undeliveredFires: { handler: undefined, functionTimeoutSeconds: 0, batchSize: 1, redrivesTo: undefined },
  /**
   * Messages of the other queues that this release cannot read, and jobs that kill their workers even when they are given up. A
   * later release or an operator sends them back. No function is behind it.
   */
  parked: { handler: undefined, functionTimeoutSeconds: 0, batchSize: 1, redrivesTo: undefined },
} as const satisfies Record<string, QueueShape>;
export type QueueName = keyof typeof queues;

/** The queues whose functions wait for answers that take long; `dead` gets those whose workers died. */
export const longAnswerQueues = ['long', 'dead'] as const satisfies readonly QueueName[];

/** The time from the end of the longest attempt to the end of its function, on an instance and on one machine. */
const longMarginSeconds = 120;

/**
 * The timeout of the function behind a queue, in seconds.
 *
 * @param longest the longest timeout of a message, in seconds: see {@link longestTimeoutSeconds}
 */
export const functionSecondsOf = (name: QueueName, longest: number): number =>
  longest > longestTimeoutSeconds.functions && longAnswerQueues.some((one) => one === name)
    ? longest + longMarginSeconds
    : queues[name].functionTimeoutSeconds;

export const queueNames = Object.keys(queues).filter((name): name is QueueName => name in queues);

const marginSeconds = 45;

/** The time for which a message of a queue without a function stays hidden from others who look at it. */
const lookedAtSeconds = 900;

/** Seconds for which Lambda collects messages for an invocation, by queue; a setting may say more for the short one. */
export const batchingWindows: Readonly<Record<QueueName, number>> = {
  short: 0,
  long: 0,
  // Lambda takes batches of more than ten only with a window of a second or more.
  slow: 1,
  dead: 0,
  fire: 0,
  accountChanges: 0,
  undeliveredFires: 0,
  parked: 0,
};

/**
 * The time for which a received message stays hidden, unless its worker changes it: see `worker/hold.ts`. It is six times the
 * timeout of the function and the batching window, so that Lambda can try again while it has no room for an invocation ("Creating
 * and configuring an Amazon SQS event source mapping" in Lambda's guide), and a little more: the last of {@link maxReceives} receives
 * comes after an hour.
 */
export function visibilitySecondsOf(name: QueueName, windowSeconds = batchingWindows[name]): number {
  const { functionTimeoutSeconds }: QueueShape = queues[name];
  return functionTimeoutSeconds === 0
    ? lookedAtSeconds
    : 6 * functionTimeoutSeconds + windowSeconds + marginSeconds;
}

/** An invocation that ends sooner makes no call to hold its messages: see `worker/hold.ts`. Most destinations answer well within it. */
export const holdAfterMs = 500;

/** The longest batching window of Lambda, in seconds ("Lambda parameters for Amazon SQS event source mappings"). */
export const mostBatchingWindow = 300;

/**
 * The functions that run by the clock. `countOutcomes` reads the log of all accounts, which keeps a record for a week at least; it
 * runs each hour, so that it has little to read even when many messages end. `redrive` sends back what the release before parked.
 * `lookForAlarms` ends before it begins again.
 */
export const timers = {
  countOutcomes: { everyMinutes: 60, functionTimeoutSeconds: 900 },
  redrive: { everyMinutes: 60, functionTimeoutSeconds: 300 },
  lookForAlarms: { everyMinutes: 5, functionTimeoutSeconds: 240 },
} as const;
export type TimedFunction = keyof typeof timers;

/** The most parts that count outcomes side by side: a shard is counted by one, and large accounts have 32 shards. */
export const mostCountingParts = 32;

/**
 * The default maximum of executions at once of the function behind each of the three delivery queues. An AWS account has 1,000
 * executions at once in a region for all its functions. Destinations that do not answer can hold 600 of them, and the API keeps
 * most of the rest.
 */
export const deliveryConcurrency = 200;

/** The same maximum for the function behind the queue `dead`, which has little to do. */
export const aloneConcurrency = 20;

/**
 * The same maximum for the function behind the queue of fires: schedules that fire together at a full hour wait for each other, and
 * not the requests of the API.
 */
export const fireConcurrency = 50;

/** The same maximum for the function that follows changes of accounts, which are few. */
export const followConcurrency = 10;

/** The bounds that Lambda sets for the maximum concurrency of a queue. */
export const leastConcurrency = 2;
export const mostConcurrency = 1_000;

/**
 * A job that was received so often in batches goes to the queue `dead`. A worker that meets an error sends the job again as a new
 * message, so the only receives that count are those whose worker died, and those for which Lambda had no room in all of the
 * visibility timeout: ten of them take an hour at least.
 */
export const maxReceives = 10;

/**
 * A job is given up after this many workers died of it alone: so many deaths are no accident of the machine. After twice as many,
 * giving it up has killed workers too, and it is parked.
 */
export const mostDeaths = 3;

/** The time for which a queue keeps a message after it was sent: 14 days, the longest that SQS offers. */
export const retentionSeconds = 1_209_600;

/**
 * The value of the dimension `service` of every metric. All functions share it, so that CloudWatch bills a metric once for a
 * region, and an alarm needs no sum over functions.
 */
export const metricsService = 'messaging';

/** The default prefixes of the headers that clients may use, on AWS as on the local stage. */
export const defaultHeaderPrefixes: readonly string[] = ['Svc', 'Upstash'];

/** The default price of a message, in dollars, which counts against its account's budget. */
export const defaultPricePerMessage = 0.000_01;
