/**
 * What the stores and queues look like, as plain data: the CDK app makes them in AWS from this, the local
 * stage makes them on a laptop, and the stores read their key names here. Like the route table, it is shared
 * by all three; nothing else is.
 */

export interface TableShape {
  /** Name of the environment variable that carries the table's name. */
  readonly variable:
    | 'MESSAGES_TABLE'
    | 'DLQ_TABLE'
    | 'ACCOUNTS_TABLE'
    | 'GROUPS_TABLE'
    | 'QUEUES_TABLE'
    | 'SCHEDULES_TABLE'
    | 'DEDUPLICATION_TABLE'
    | 'USAGE_TABLE';
  readonly partitionKey: string;
  readonly sortKey?: string;
  /** Epoch seconds after which a row may vanish. */
  readonly ttl?: string;
  /** Local to a partition key of its own choice: every index projects all attributes. Sort keys named here are numbers. */
  readonly indexes: readonly {
    readonly name: string;
    readonly partitionKey: string;
    readonly sortKey: string;
  }[];
}

export const tables = {
  /** A message row and, behind it, a row for each recorded attempt. */
  messages: {
    variable: 'MESSAGES_TABLE',
    partitionKey: 'shard',
    sortKey: 'id',
    ttl: 'expiresAt',
    // Only attempt rows carry `recordedAt`, so only they are in the index: the log, by time.
    indexes: [{ name: 'log', partitionKey: 'shard', sortKey: 'recordedAt' }],
  },
  /** One row for each message that failed for good. */
  dlq: { variable: 'DLQ_TABLE', partitionKey: 'shard', sortKey: 'id', ttl: 'expiresAt', indexes: [] },
  groups: { variable: 'GROUPS_TABLE', partitionKey: 'accountId', sortKey: 'name', indexes: [] },
  /** Queues as accounts have them; those of pointers are below. */
  queues: { variable: 'QUEUES_TABLE', partitionKey: 'accountId', sortKey: 'name', indexes: [] },
  /** Schedules, and in partitions of their own, which of their fires were handled. */
  schedules: {
    variable: 'SCHEDULES_TABLE',
    partitionKey: 'owner',
    sortKey: 'id',
    ttl: 'expiresAt',
    indexes: [],
  },
  /** What was published within the last minutes, by what makes it the same as another. */
  deduplication: { variable: 'DEDUPLICATION_TABLE', partitionKey: 'id', ttl: 'expiresAt', indexes: [] },
  /**
   * The one table that regions share: each has a replica of it. A row is written, and where it counts read, in its
   * account's own region only.
   */
  accounts: { variable: 'ACCOUNTS_TABLE', partitionKey: 'id', ttl: 'expiresAt', indexes: [] },
  /** What each account used on each day, and failed attempts to log in to the management API. */
  usage: { variable: 'USAGE_TABLE', partitionKey: 'owner', sortKey: 'id', ttl: 'expiresAt', indexes: [] },
} as const satisfies Record<string, TableShape>;

/**
 * Rows of the usage table whose sort key begins with this say what a process may have in flight. Where all processes are
 * known to have ended, as at the start of a local stage, they hold nothing any more.
 */
export const leasePrefix = 'flight#';

/**
 * Bodies in the bucket are kept by age class: the key starts with `<days>d/`, and a lifecycle rule for each
 * class expires what is older. A message may be delayed by a year, and then be tried for as many days as it has retries.
 */
export const bodyLifetimesDays = [16, 32, 64, 128, 256, 512, 1024] as const;

/** Messages whose timeout is at most this go through the short queue. */
export const shortTimeoutMs = 30_000;

/**
 * The longest a message may wait for its answer: Lambda ends a function after 900 s, and the worker needs the
 * rest to read and to record.
 */
export const longTimeoutMs = 840_000;

/**
 * The queues of pointers, and how the function behind each is timed, in seconds. A function ends before its pointers are
 * visible again (Lambda demands no less), and after the longest wait for an answer that its queue is for.
 */
export const queues = {
  short: { handler: 'deliver', functionTimeout: 60, visibility: 70, redrivesTo: 'dead' },
  long: { handler: 'deliver', functionTimeout: 900, visibility: 910, redrivesTo: 'dead' },
  /** Pointers whose worker never came back from them; their messages are failed into the dead letter queue. */
  dead: { handler: 'abandon', functionTimeout: 60, visibility: 70, redrivesTo: undefined },
  /** Fires of schedules. */
  fire: { handler: 'fire', functionTimeout: 60, visibility: 70, redrivesTo: 'undeliveredFires' },
  /** Accounts whose region has to follow a change of theirs. Other regions send to it, so they know its name. */
  accountChanges: { handler: 'accountChange', functionTimeout: 300, visibility: 310, redrivesTo: undefined },
  /** Fires that Scheduler could not send, or that could not be handled: for an operator to look at. */
  undeliveredFires: { handler: undefined, functionTimeout: 0, visibility: 30, redrivesTo: undefined },
} as const;
export type QueueName = keyof typeof queues;

/** How often a pointer is tried before it is given up and its message is failed into the dead letter queue. */
export const maxReceives = 50;
