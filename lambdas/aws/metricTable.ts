/** The functions' metrics as data. Functions import only its types, so their bundles do not contain its texts. */

export const awsServices = ['Dynamodb', 'Sqs', 'S3', 'Scheduler', 'Secrets'] as const;
export type AwsService = (typeof awsServices)[number];

interface MetricShape {
  /** `count` adds up, `largest` keeps the largest value, and `time` is in milliseconds. */
  readonly kind: 'count' | 'largest' | 'time';
  /** Whether each account also has the metric. */
  readonly per: 'region' | 'account';
  readonly meaning: string;
}

const count = (meaning: string) => ({ kind: 'count', per: 'region', meaning }) as const;
const time = (meaning: string) => ({ kind: 'time', per: 'region', meaning }) as const;

/**
 * The namespace is the deployment's name; the dimension is `service`, or `account` for an account's metrics.
 * Hosts, messages and destinations are not dimensions, because each value would be billed as a metric.
 */
export const metrics = {
  Accepted: count('accepted messages: from requests, fires of schedules and retried dead letters'),
  Callbacks: count('messages that are callbacks'),
  Delivered: count('attempts that succeeded'),
  Retried: count('attempts that failed and are retried'),
  Failed: count('attempts that failed and are not retried'),
  Cancelled: count('messages that were cancelled before they ended'),
  DeadLettered: count('messages and runs that were added to the dead letter queue of their account'),
  FirstAttemptDelay: time(
    'from the acceptance of a message without a delay to its first attempt, including the wait in lanes',
  ),
  Lateness: time(
    'from the time at which an attempt was due to its start, for attempts that did not wait in a lane',
  ),
  DestinationTime: time(
    'from the start of an attempt to the end of its answer: name lookup, connection and destination',
  ),
  LongestLine: {
    kind: 'largest',
    per: 'region',
    meaning: 'the attempts in the longest of the waiting lines that were written',
  },
  CircuitsOpened: count('circuits that opened because their host was down'),
  CircuitsClosed: count('circuits that closed because their host answered again'),
  AttemptsHeldBack: count('attempts that began to wait for the circuit of their host or the end of a hold'),
  ScheduleFires: count('fires of schedules that were published'),
  ScheduleMisses: count('fires of schedules that were refused or given up'),
  FireDelay: time('from the time of a fire to the publishing of its messages'),
  RunsStarted: count('workflow runs that started'),
  RunsSucceeded: count('runs whose function returned'),
  RunsFailed: count('runs that failed'),
  RunsCancelled: count('runs that were cancelled'),
  Steps: count('recorded steps of runs'),
  Refused: count('requests to the API that were answered with 4XX'),
  LimitsHit: count('how often an account reached a limit of requests, bytes or messages, or its budget'),
  BudgetReached: count('how often an account reached its budget'),
  RequestsOverSoftLimit: count('messages of accounts above their soft daily limit'),
  RequestsFailed: count('requests to the API that were answered with 5XX'),
  WorkFaults: count('jobs that failed because of the service itself; each is retried'),
  WorkOutages: count('jobs that failed because of AWS or the network; each is retried'),
  WorkUnreadable: count('messages that this release cannot read and that were parked'),
  GivenUp: count('attempts and fires that were given up, because their workers died or failed repeatedly'),
  DynamodbErrors: count('calls of DynamoDB that failed or timed out; each try counts'),
  DynamodbThrottles: count('calls that DynamoDB throttled'),
  SqsErrors: count('calls of SQS that failed or timed out'),
  SqsThrottles: count('calls that SQS throttled'),
  S3Errors: count('calls of S3 that failed or timed out'),
  S3Throttles: count('calls that S3 throttled'),
  SchedulerErrors: count('calls of EventBridge Scheduler that failed or timed out'),
  SchedulerThrottles: count('calls that EventBridge Scheduler throttled'),
  SecretsErrors: count('calls of Secrets Manager that failed or timed out'),
  SecretsThrottles: count('calls that Secrets Manager throttled'),
  AwsErrors: count('the failed calls of all these services, for the alarm'),
  AwsThrottles: count('the throttled calls of all these services, for the alarm'),
  Messages: {
    kind: 'count',
    per: 'account',
    meaning: 'messages, including callbacks, of an account whose usage is exported',
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
