/** The functions' metrics as data. Functions import only its types, so their bundles do not contain its texts. */

export const awsServices = ['Dynamodb', 'Sqs', 'S3', 'Scheduler', 'Secrets'] as const;
export type AwsService = (typeof awsServices)[number];

interface MetricShape {
  /** A `count` is a sum, `largest` keeps the largest value, and `time` is milliseconds. */
  readonly kind: 'count' | 'largest' | 'time';
  /** Whether each account also has the metric. */
  readonly per: 'region' | 'account';
  readonly meaning: string;
}

const count = (meaning: string) => ({ kind: 'count', per: 'region', meaning }) as const;
const time = (meaning: string) => ({ kind: 'time', per: 'region', meaning }) as const;

/**
 * Their namespace is the deployment's name, with the dimension `service`, or `account` for an account's. Hosts, messages and
 * destinations are not dimensions, because each value would be billed as a metric.
 */
export const metrics = {
  Accepted: count('messages that were accepted: from requests, fires of schedules and retried dead letters'),
  Callbacks: count('messages that were made to tell a callback of an attempt'),
  Delivered: count('attempts that the destination answered with success'),
  Retried: count('attempts that failed, and after which another one follows'),
  Failed: count('attempts that failed and were the last of their message'),
  Cancelled: count('messages that were cancelled before they were over'),
  DeadLettered: count('messages and runs that came to the dead letter queue of their account'),
  FirstAttemptDelay: time(
    'from a message that is not delayed to its first attempt, waiting in lanes included',
  ),
  Lateness: time(
    'from the moment when an attempt was due to its start, save of attempts that waited in a lane',
  ),
  DestinationTime: time(
    'from the start of an attempt to the end of its answer: name, connection and destination',
  ),
  LongestLine: {
    kind: 'largest',
    per: 'region',
    meaning: 'the attempts in the longest waiting line of those that were written',
  },
  CircuitsOpened: count('circuits of hosts that were opened, because a destination was down'),
  CircuitsClosed: count('circuits of hosts that were closed, because a destination answered again'),
  AttemptsHeldBack: count('attempts that began to wait because the circuit of their host was open'),
  ScheduleFires: count('fires of schedules that were published'),
  ScheduleMisses: count('fires of schedules of which nothing was published: refused, or given up'),
  FireDelay: time('from the time of a fire to its messages'),
  RunsStarted: count('runs of workflows that began'),
  RunsSucceeded: count('runs whose function returned'),
  RunsFailed: count('runs that failed'),
  RunsCancelled: count('runs that were cancelled'),
  Steps: count('steps of runs that were recorded'),
  Refused: count('requests to the API that were answered with 4XX'),
  LimitsHit: count('times that an account met a limit of requests, bytes, messages or its budget'),
  BudgetReached: count('times that an account met its budget'),
  RequestsOverSoftLimit: count('messages of accounts that are over their soft daily limit'),
  RequestsFailed: count('requests to the API that the service failed on: 5XX'),
  WorkFaults: count('jobs that the service itself failed with; each comes again'),
  WorkOutages: count('jobs that AWS or the network failed; each comes again'),
  WorkUnreadable: count('messages that this release cannot read, and that were parked'),
  GivenUp: count(
    'attempts and fires that were given up, because workers died or failed with them again and again',
  ),
  DynamodbErrors: count('calls of DynamoDB that failed or were not answered in time; each try counts'),
  DynamodbThrottles: count('calls that DynamoDB throttled'),
  SqsErrors: count('calls of SQS that failed or were not answered in time'),
  SqsThrottles: count('calls that SQS throttled'),
  S3Errors: count('calls of S3 that failed or were not answered in time'),
  S3Throttles: count('calls that S3 throttled'),
  SchedulerErrors: count('calls of EventBridge Scheduler that failed or were not answered in time'),
  SchedulerThrottles: count('calls that EventBridge Scheduler throttled'),
  SecretsErrors: count('calls of Secrets Manager that failed or were not answered in time'),
  SecretsThrottles: count('calls that Secrets Manager throttled'),
  Messages: {
    kind: 'count',
    per: 'account',
    meaning: 'messages of an account whose usage is exported, callbacks included',
  },
  Requests: {
    kind: 'count',
    per: 'account',
    meaning: 'requests to the API from an account whose usage is exported',
  },
} as const satisfies Record<string, MetricShape>;

type Metrics = typeof metrics;

export type MetricName<Kind extends MetricShape['kind'], Per extends MetricShape['per'] = 'region'> = {
  readonly [Name in keyof Metrics]: Metrics[Name]['kind'] extends Kind
    ? Metrics[Name]['per'] extends Per
      ? Name
      : never
    : never;
}[keyof Metrics];
