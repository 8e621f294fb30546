import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { metrics } from '../../lambdas/aws/metricTable.ts';
import {
  functionSecondsOf,
  longestTimeoutSeconds,
  metricsService,
  type QueueName,
} from '../../lambdas/aws/resources.ts';
import { type AlarmName, alarmTable, type AwsAlarm } from './alarmTable.ts';
import { stageName } from '../api/api.ts';
import type { SvcFunction } from '../functions/function.ts';
import type { Queues } from '../state/queues.ts';
import type { Settings } from '../settings.ts';

export interface Watched {
  readonly settings: Settings;
  readonly queues: Queues;
  readonly scheduleGroup: string;
  readonly publish: SvcFunction;
  /** The functions that handle messages, including publish. */
  readonly messageFunctions: readonly SvcFunction[];
  readonly deliveries: readonly SvcFunction[];
  readonly apiFunctions: readonly SvcFunction[];
  readonly capacityProvider: string | undefined;
  /** The API's name in CloudWatch; undefined in other regions than its own. */
  readonly managementApi: string | undefined;
}

export const period = Duration.minutes(5);

export const ownMetric = (
  { settings }: Pick<Watched, 'settings'>,
  name: keyof typeof metrics,
  statistic?: string,
): Metric =>
  new Metric({
    namespace: settings.name,
    metricName: name,
    dimensionsMap: { service: metricsService },
    statistic: statistic ?? (metrics[name].kind === 'count' ? 'Sum' : 'Maximum'),
    period,
  });

/** A metric without data is 0. */
function sumOf(label: string, all: readonly Metric[]): IMetric {
  const [first, ...others] = all;
  if (first !== undefined && others.length === 0) return first;
  const named = Object.fromEntries(all.map((metric, index) => [`m${index.toString()}`, metric]));
  return new MathExpression({
    expression: Object.keys(named)
      .map((name) => `FILL(${name}, 0)`)
      .join(' + '),
    usingMetrics: named,
    label,
    period,
  });
}

const ofFunction = (fn: SvcFunction, metricName: string, statistic: string): Metric =>
  new Metric({
    namespace: 'AWS/Lambda',
    metricName,
    dimensionsMap: { FunctionName: fn.functionName },
    statistic,
    period,
  });

export const apiMetric = (apiName: string, stage: string, metricName: string, statistic = 'Sum'): Metric =>
  new Metric({
    namespace: 'AWS/ApiGateway',
    metricName,
    dimensionsMap: { ApiName: apiName, Stage: stage },
    statistic,
    period,
  });

export const schedulerMetric = (group: string, metricName: string): Metric =>
  new Metric({
    namespace: 'AWS/Scheduler',
    metricName,
    dimensionsMap: { ScheduleGroup: group },
    statistic: 'Sum',
    period,
  });

/** Concurrent executions in the AWS account and region, including reserved ones. */
export const claimedConcurrency = (): Metric =>
  new Metric({
    namespace: 'AWS/Lambda',
    metricName: 'ClaimedAccountConcurrency',
    statistic: 'Maximum',
    period,
  });

/** Lambda writes these lines at the level WARN ("System log level event mapping"). A timeout counts as five. */
export const failedInvocations = {
  metricName: 'FunctionErrors',
  filters: [
    { id: 'Failed', pattern: '{ $.type = "platform.report" && $.record.status != "success" }', value: '1' },
    { id: 'TimedOut', pattern: '{ $.type = "platform.report" && $.record.status = "timeout" }', value: '4' },
  ],
} as const;

const onInstances = (all: readonly SvcFunction[]): readonly SvcFunction[] =>
  all.filter(({ isOnInstances }) => isOnInstances);

/** The longest duration of an attempt in the queue, in seconds, or 0. It is a part of a message's age. */
const longestJobSeconds = (name: QueueName, { longDelivery }: Settings): number =>
  name === 'long' || name === 'slow' ? functionSecondsOf(name, longestTimeoutSeconds[longDelivery]) : 0;

/** A metric without data is 0. */
function largestOf(
  label: string,
  parts: readonly { readonly of: Metric; readonly as: (name: string) => string }[],
) {
  const named = parts.map(({ of, as }, index) => ({ name: `m${index.toString()}`, of, as }));
  return new MathExpression({
    expression: `MAX([${named.map(({ name, as }) => as(`FILL(${name}, 0)`)).join(', ')}])`,
    usingMetrics: Object.fromEntries(named.map(({ name, of }) => [name, of])),
    label,
    period,
  });
}

const awsMetrics: Readonly<Record<AwsAlarm, (watched: Watched) => IMetric>> = {
  WorkInDeadQueue: ({ queues: { dead } }) =>
    sumOf('jobs in the queue dead', [
      dead.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', period }),
      dead.metricApproximateNumberOfMessagesNotVisible({ statistic: 'Maximum', period }),
      dead.metricApproximateNumberOfMessagesDelayed({ statistic: 'Maximum', period }),
    ]),
  OldestWork: ({ queues, settings }) =>
    largestOf(
      'age of the oldest job',
      (['short', 'long', 'slow', 'fire', 'accountChanges'] as const).map((name) => {
        const longest = longestJobSeconds(name, settings);
        return {
          of: queues[name].metricApproximateAgeOfOldestMessage({ statistic: 'Maximum', period }),
          as: (metric) => (longest > 0 ? `${metric} - ${longest.toString()}` : metric),
        };
      }),
    ),
  UndeliveredFires: ({ queues: { undeliveredFires } }) =>
    undeliveredFires.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', period }),
  WorkParked: ({ queues: { parked } }) =>
    parked.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', period }),
  SchedulerTarget: ({ scheduleGroup }) =>
    sumOf(
      'sends of Scheduler that failed',
      // A dropped fire goes to a queue with an alarm, or counts as the second of these.
      ['TargetErrorCount', 'InvocationsFailedToBeSentToDeadLetterCount'].map((name) =>
        schedulerMetric(scheduleGroup, name),
      ),
    ),
  Api5xx: (watched) =>
    sumOf('answers with 5XX', [
      // By name, because a reference would be a loop: the stage depends on aliases, which may depend on this
      // alarm.
      apiMetric(watched.settings.name, stageName, '5XXError'),
      ...(watched.managementApi === undefined
        ? []
        : [apiMetric(watched.managementApi, stageName, '5XXError')]),
      ...(watched.settings.publishUrl ? [ofFunction(watched.publish, 'Url5xxCount', 'Sum')] : []),
    ]),
  // Whether Lambda reports each invocation on instances is not documented.
  FunctionErrors: ({ settings, messageFunctions }) =>
    sumOf('errors', [
      new Metric({
        namespace: settings.name,
        metricName: failedInvocations.metricName,
        statistic: 'Sum',
        period,
      }),
      ...onInstances(messageFunctions).map((fn) => ofFunction(fn, 'Errors', 'Sum')),
    ]),
  // If the API's functions are throttled, it answers with 5XX. Other functions have capacity when these have.
  LambdaThrottles: ({ settings, deliveries, publish }) =>
    sumOf(
      'throttles',
      [
        ...deliveries.filter(({ isOnInstances }) => !isOnInstances),
        ...(settings.publishUrl ? [publish] : []),
      ].map((fn) => ofFunction(fn, 'Throttles', 'Sum')),
    ),
  InstancesFull: ({ messageFunctions }) =>
    sumOf(
      'throttles on instances',
      onInstances(messageFunctions).map((fn) => ofFunction(fn, 'Throttles', 'Sum')),
    ),
  InstancesMemory: ({ messageFunctions, capacityProvider = '' }) =>
    largestOf(
      'part of the memory, %',
      onInstances(messageFunctions).map(({ functionName }) => ({
        of: new Metric({
          namespace: 'AWS/Lambda',
          metricName: 'ExecutionEnvironmentMemoryUtilization',
          dimensionsMap: { CapacityProviderName: capacityProvider, FunctionName: functionName },
          statistic: 'Maximum',
          period,
        }),
        as: (metric) => metric,
      })),
    ),
  Concurrency: ({ settings }) =>
    new MathExpression({
      expression: `claimed / ${settings.accountConcurrency.toString()}`,
      usingMetrics: { claimed: claimedConcurrency() },
      label: 'part of the limit',
      period,
    }),
};

const isOnAws = (name: AlarmName): name is AwsAlarm => name in awsMetrics;

export function metricOf(name: AlarmName, watched: Watched): IMetric {
  if (isOnAws(name)) return awsMetrics[name](watched);
  const shape = alarmTable[name];
  const statistic = 'statistic' in shape ? shape.statistic : undefined;
  return ownMetric(watched, shape.own, statistic);
}
