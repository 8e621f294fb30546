/**
 * The alarms as data. `docs/operate.md` has a section for each, and `alarms.ts` the AWS metrics that some watch; tests compare
 * the three.
 *
 * Missing data never raises an alarm: functions write no counts of 0, and AWS no metrics of unused resources.
 */
import type { MetricName } from '../../lambdas/aws/metricTable.ts';

export type LogsOf = 'workers' | 'api' | 'all';

interface AlarmShape {
  /** Shown in notifications, too. */
  readonly meaning: string;
  /** The value that raises the alarm ... */
  readonly atLeast: number;
  /** ... in this many periods of five minutes, of which one more is looked at: see `monitoring.ts`. */
  readonly periods: number;
  /** Requires action soon. The setting `monitoring=essential` makes only these. */
  readonly essential?: true;
  /** Only made if there are managed instances. */
  readonly onInstances?: true;
  /** The functions' own metric; undefined if AWS has the metric. */
  readonly own?: MetricName<'count'> | MetricName<'time'>;
  /** The statistic of times. The default is the sum. */
  readonly statistic?: 'p90';
  /** The query for CloudWatch Logs Insights. */
  readonly query: { readonly logs: LogsOf; readonly text: string };
}

const lines = (...parts: readonly string[]): string => parts.join('\n| ');
const newest = ['sort @timestamp desc', 'limit 100'] as const;

const errors = lines(
  'fields @timestamp, service, message, messageId, error.name, error.message, body',
  'filter level = "ERROR"',
  ...newest,
);
const warnings = lines(
  'fields @timestamp, service, message, messageId, error.name, error.message',
  'filter level in ["WARN", "ERROR"] and message != "attempt"',
  ...newest,
);
/** Grouped by kind. The messages name the service that failed. */
const awsErrors = lines(
  'filter level in ["WARN", "ERROR"] and ispresent(error.name)',
  'stats count(*) as times, latest(error.message) as example by error.name, service',
  'sort times desc',
  'limit 50',
);
/** Lambda's own lines about invocations that ran out of time or memory. */
const ended = lines(
  'fields @timestamp, @log, type, record.status, record.errorType, record.metrics.durationMs, message',
  'filter ispresent(record.status) and record.status != "success" or @message like /Task timed out|Runtime\\.|OutOfMemory/',
  ...newest,
);
const slowest = lines(
  'fields @timestamp, messageId, url, status, durationMs, outcome',
  'filter message = "attempt"',
  'sort durationMs desc',
  'limit 50',
);
const busiest = lines(
  'filter message = "attempt"',
  'parse url /\\/\\/(?<host>[^\\/]+)/',
  'stats count(*) as attempts, avg(durationMs) as meanMs, max(durationMs) as longestMs by host',
  'sort attempts desc',
  'limit 50',
);

export const alarmTable = {
  WorkInDeadQueue: {
    meaning:
      'A job has been in the internal queue `dead` for 15 minutes: its workers died, or Lambda had no capacity for it.',
    atLeast: 1,
    periods: 3,
    query: { logs: 'workers', text: warnings },
  },
  OldestWork: {
    meaning:
      'A job in a queue is 20 minutes old or more, including its delay: too few jobs are taken from the queue, or none.',
    atLeast: 1_200,
    periods: 3,
    essential: true,
    query: { logs: 'workers', text: busiest },
  },
  UndeliveredFires: {
    meaning:
      'Fires of schedules are in the queue of undelivered fires: Scheduler could not send them, or they were given up.',
    atLeast: 1,
    periods: 1,
    essential: true,
    query: { logs: 'workers', text: errors },
  },
  SchedulerTarget: {
    meaning: 'EventBridge Scheduler could not send to a queue, or gave up a message that was due.',
    atLeast: 1,
    periods: 1,
    query: { logs: 'workers', text: errors },
  },
  WorkFaults: {
    meaning: 'A job failed because of the service itself. It is retried, and given up after ten times.',
    atLeast: 1,
    periods: 1,
    essential: true,
    own: 'WorkFaults',
    query: { logs: 'workers', text: errors },
  },
  WorkOutages: {
    meaning: 'For 15 minutes, jobs failed because of AWS or the network. They wait and are retried.',
    atLeast: 10,
    periods: 3,
    essential: true,
    own: 'WorkOutages',
    query: { logs: 'workers', text: awsErrors },
  },
  WorkParked: {
    meaning:
      'Messages are parked: this release cannot read them, or their jobs kill every worker. They are lost after 14 days.',
    atLeast: 1,
    periods: 1,
    query: { logs: 'workers', text: errors },
  },
  GivenUp: {
    meaning:
      'An attempt or a fire was given up, because its workers died or failed again and again; or a message was parked.',
    atLeast: 1,
    periods: 1,
    essential: true,
    own: 'GivenUp',
    query: { logs: 'workers', text: warnings },
  },
  Lateness: {
    meaning: 'For 15 minutes, one attempt in ten started a minute late or more, without waiting in a lane.',
    atLeast: 60_000,
    periods: 3,
    own: 'Lateness',
    statistic: 'p90',
    query: { logs: 'workers', text: slowest },
  },
  Api5xx: {
    meaning: 'Five requests or more in five minutes were answered with 5XX.',
    atLeast: 5,
    periods: 1,
    essential: true,
    query: { logs: 'api', text: errors },
  },
  FunctionErrors: {
    meaning:
      'In five minutes, five invocations or more ended without an answer, because they failed or ran out of memory; or one took too ' +
      'long.',
    atLeast: 5,
    periods: 1,
    query: { logs: 'all', text: ended },
  },
  LambdaThrottles: {
    meaning:
      'For 15 minutes, Lambda refused to invoke delivery functions, because it had no capacity for more executions.',
    atLeast: 10,
    periods: 3,
    query: { logs: 'workers', text: busiest },
  },
  InstancesFull: {
    meaning:
      'For 15 minutes, Lambda refused to invoke functions on managed instances, because no execution environment had room.',
    atLeast: 10,
    periods: 3,
    onInstances: true,
    query: { logs: 'workers', text: busiest },
  },
  InstancesMemory: {
    meaning: 'An execution environment on a managed instance used 90 % of its memory or more.',
    atLeast: 90,
    periods: 1,
    onInstances: true,
    query: { logs: 'workers', text: slowest },
  },
  Concurrency: {
    meaning:
      'Concurrent executions are near the limit of the AWS account: 80 % of the setting `accountConcurrency`.',
    atLeast: 0.8,
    periods: 1,
    query: { logs: 'workers', text: busiest },
  },
  SecretsErrors: {
    meaning:
      'Secrets Manager did not return a secret. Processes that have it continue; new ones cannot work.',
    atLeast: 1,
    periods: 2,
    own: 'SecretsErrors',
    query: { logs: 'all', text: awsErrors },
  },
  AwsErrors: {
    meaning:
      'For ten minutes, calls of DynamoDB, SQS, S3, EventBridge Scheduler or Secrets Manager failed or timed out.',
    atLeast: 10,
    periods: 2,
    own: 'AwsErrors',
    query: { logs: 'all', text: awsErrors },
  },
  AwsThrottles: {
    meaning: 'For 15 minutes, DynamoDB, SQS, S3, EventBridge Scheduler or Secrets Manager throttled calls.',
    atLeast: 10,
    periods: 3,
    own: 'AwsThrottles',
    query: { logs: 'all', text: awsErrors },
  },
  BudgetReached: {
    meaning:
      'An account reached its budget. Its messages are refused until the month ends or the budget is raised.',
    atLeast: 1,
    periods: 1,
    own: 'BudgetReached',
    query: {
      logs: 'all',
      text: lines(
        'filter message = "The account has met its budget"',
        'stats count(*) as times, latest(budget) as dollars by accountId',
        'sort times desc',
      ),
    },
  },
} as const satisfies Record<string, AlarmShape>;

export type AlarmName = keyof typeof alarmTable;
export type AwsAlarm = {
  readonly [Name in AlarmName]: (typeof alarmTable)[Name] extends { readonly own: unknown } ? never : Name;
}[AlarmName];

export const alarmList: readonly (readonly [AlarmName, AlarmShape])[] = Object.entries(alarmTable).map(
  ([name, shape]) => [name as AlarmName, shape],
);
