import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
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
  readonly api: SpecRestApi;
  readonly scheduleGroup: string;
  readonly publish: SvcFunction;
  /** The functions that messages pass, including publish. The alarms on Lambda watch each separately. */
  readonly messageFunctions: readonly SvcFunction[];
  readonly apiFunctions: readonly SvcFunction[];
  readonly capacityProvider: string | undefined;
  /** Its name in CloudWatch. Undefined outside its region. */
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

export const lambdaMetrics = (
  { messageFunctions }: Pick<Watched, 'messageFunctions'>,
  metricName: string,
  statistic: string,
): readonly Metric[] => messageFunctions.map((fn) => ofFunction(fn, metricName, statistic));

export const environmentMetrics = (
  { messageFunctions, capacityProvider }: Pick<Watched, 'messageFunctions' | 'capacityProvider'>,
  metricName: string,
): readonly Metric[] =>
  messageFunctions.flatMap(({ functionName, isOnInstances }) =>
    capacityProvider === undefined || !isOnInstances
      ? []
      : new Metric({
          namespace: 'AWS/Lambda',
          metricName,
          dimensionsMap: { CapacityProviderName: capacityProvider, FunctionName: functionName },
          statistic: 'Maximum',
          period,
        }),
  );

/** Seconds of the longest attempt in the queue, or 0. A message's age includes its attempt. */
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
      ['TargetErrorCount', 'InvocationDroppedCount', 'InvocationsFailedToBeSentToDeadLetterCount'].map(
        (name) => schedulerMetric(scheduleGroup, name),
      ),
    ),
  Api5xx: (watched) =>
    sumOf('answers with 5XX', [
      // A reference to the stage would be a loop: the stage depends on the aliases, and they may depend on this alarm.
      apiMetric(watched.settings.name, stageName, '5XXError'),
      ...(watched.managementApi === undefined
        ? []
        : [apiMetric(watched.managementApi, stageName, '5XXError')]),
      ...(watched.settings.publishUrl ? [ofFunction(watched.publish, 'Url5xxCount', 'Sum')] : []),
    ]),
  FunctionErrors: (watched) => sumOf('errors', lambdaMetrics(watched, 'Errors', 'Sum')),
  NearTimeout: ({ messageFunctions }) =>
    largestOf(
      'part of the timeout',
      messageFunctions.map((fn) => ({
        of: ofFunction(fn, 'Duration', 'Maximum'),
        as: (metric) => partOfTimeout(metric, fn),
      })),
    ),
  LambdaThrottles: ({ messageFunctions }) =>
    sumOf(
      'throttles',
      lambdaMetrics(
        { messageFunctions: messageFunctions.filter(({ isOnInstances }) => !isOnInstances) },
        'Throttles',
        'Sum',
      ),
    ),
  InstancesFull: ({ messageFunctions }) =>
    sumOf(
      'throttles on instances',
      lambdaMetrics(
        { messageFunctions: messageFunctions.filter(({ isOnInstances }) => isOnInstances) },
        'Throttles',
        'Sum',
      ),
    ),
  InstancesMemory: (watched) =>
    largestOf(
      'part of the memory, %',
      environmentMetrics(watched, 'ExecutionEnvironmentMemoryUtilization').map((of) => ({
        of,
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

/**
 * The part of its timeout that an invocation took. On an instance the longest attempt leaves two of 90 minutes, so the part is
 * of these two.
 */
function partOfTimeout(metric: string, fn: SvcFunction): string {
  const ms = timeoutMs(fn);
  if (!fn.isOnInstances) return `${metric} / ${ms.toString()}`;
  const longestMs = longestTimeoutSeconds.instances * 1_000;
  return `(${metric} - ${longestMs.toString()}) / ${(ms - longestMs).toString()}`;
}

function timeoutMs({ timeout, node }: SvcFunction): number {
  if (timeout === undefined) throw new Error(`The function ${node.id} has no timeout.`);
  return timeout.toMilliseconds();
}

const isOnAws = (name: AlarmName): name is AwsAlarm => name in awsMetrics;

export function metricOf(name: AlarmName, watched: Watched): IMetric {
  if (isOnAws(name)) return awsMetrics[name](watched);
  const shape = alarmTable[name];
  const statistic = 'statistic' in shape ? shape.statistic : undefined;
  return sumOf(
    name,
    shape.own.map((own) => ownMetric(watched, own, statistic)),
  );
}
