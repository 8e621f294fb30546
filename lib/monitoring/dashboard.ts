/** In the order of an operator's questions, row by row from the left. */
import {
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  AlarmStatusWidget,
  type IAlarm,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import type { metrics } from '../../lambdas/aws/metricTable.ts';
import {
  apiMetric,
  claimedConcurrency,
  environmentMetrics,
  lambdaMetrics,
  ownMetric,
  period,
  schedulerMetric,
  type Watched,
} from './alarms.ts';

type Own = keyof typeof metrics;

const width = 8;
const height = 6;

const graph = (title: string, left: readonly IMetric[], unit?: string): IWidget =>
  new GraphWidget({
    title,
    left: [...left],
    width,
    height,
    leftYAxis: { min: 0, showUnits: false, ...(unit !== undefined && { label: unit }) },
  });

const rowOfInstances = (watched: Watched): IWidget[] => [
  graph('Instances: messages of an execution environment', [
    ...environmentMetrics(watched, 'ExecutionEnvironmentConcurrency'),
    ...environmentMetrics(watched, 'ExecutionEnvironmentConcurrencyLimit'),
  ]),
  graph('Instances: memory', environmentMetrics(watched, 'ExecutionEnvironmentMemoryUtilization'), '%'),
  graph('Instances: CPU', environmentMetrics(watched, 'ExecutionEnvironmentCPUUtilization'), '%'),
];

export function makeDashboard(
  scope: Construct,
  {
    name,
    watched,
    alarms,
  }: { readonly name: string; readonly watched: Watched; readonly alarms: readonly IAlarm[] },
): Dashboard {
  const { queues, settings, api, scheduleGroup } = watched;
  const own = (...names: readonly Own[]): readonly IMetric[] => names.map((one) => ownMetric(watched, one));
  const times = (one: Own): readonly IMetric[] =>
    ['p50', 'p90', 'p99'].map((statistic) =>
      ownMetric(watched, one, statistic).with({ label: `${one} ${statistic}` }),
    );
  const stage = api.deploymentStage.stageName;
  const ofApi = (metricName: string, statistic?: string): IMetric =>
    apiMetric(settings.name, stage, metricName, statistic);
  const carrying = [queues.short, queues.long, queues.fire];
  return new Dashboard(scope, 'Dashboard', {
    dashboardName: name,
    widgets: [
      [new AlarmStatusWidget({ title: 'Alarms', alarms: [...alarms], width: 3 * width, height: 4 })],
      [
        graph('Messages', own('Accepted', 'Callbacks', 'Delivered', 'Cancelled')),
        graph('Attempts that failed', own('Retried', 'Failed', 'DeadLettered')),
        graph('From publish to the first attempt', times('FirstAttemptDelay'), 'ms'),
      ],
      [
        graph('Late', times('Lateness'), 'ms'),
        graph('Destinations', times('DestinationTime'), 'ms'),
        graph(
          'In flight: jobs in functions',
          carrying.map((queue) =>
            queue.metricApproximateNumberOfMessagesNotVisible({ statistic: 'Maximum', period }),
          ),
        ),
      ],
      [
        graph(
          'Due: jobs that wait for a function',
          carrying.map((queue) =>
            queue.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', period }),
          ),
        ),
        graph(
          'Age of the oldest job',
          carrying.map((queue) =>
            queue.metricApproximateAgeOfOldestMessage({ statistic: 'Maximum', period }),
          ),
          's',
        ),
        graph('Waiting in lanes: the longest line', own('LongestLine')),
        graph('Destinations that are down', own('CircuitsOpened', 'CircuitsClosed', 'AttemptsHeldBack')),
      ],
      [
        graph('Schedules', own('ScheduleFires', 'ScheduleMisses')),
        graph('From a fire to its messages', times('FireDelay'), 'ms'),
        graph(
          'EventBridge Scheduler',
          [
            'InvocationAttemptCount',
            'TargetErrorCount',
            'TargetErrorThrottledCount',
            'InvocationThrottleCount',
            'InvocationDroppedCount',
            'InvocationsFailedToBeSentToDeadLetterCount',
          ].map((metricName) => schedulerMetric(scheduleGroup, metricName)),
        ),
      ],
      [
        graph('Runs', own('RunsStarted', 'RunsSucceeded', 'RunsFailed', 'RunsCancelled')),
        graph('Steps', own('Steps')),
        graph('Refusals and limits', own('Refused', 'LimitsHit', 'BudgetReached', 'RequestsOverSoftLimit')),
      ],
      [
        graph('API', [ofApi('Count'), ofApi('4XXError'), ofApi('5XXError')]),
        graph('API: time to answer', [ofApi('Latency', 'p50'), ofApi('Latency', 'p99')], 'ms'),
        graph(
          'Our own failures',
          own('RequestsFailed', 'WorkFaults', 'WorkOutages', 'WorkUnreadable', 'GivenUp'),
        ),
      ],
      [
        graph(
          'Failed AWS calls',
          own('DynamodbErrors', 'SqsErrors', 'S3Errors', 'SchedulerErrors', 'SecretsErrors'),
        ),
        graph(
          'Throttled AWS calls',
          own('DynamodbThrottles', 'SqsThrottles', 'S3Throttles', 'SchedulerThrottles', 'SecretsThrottles'),
        ),
        graph('Failed work: queues', [
          queues.dead.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', period }),
          queues.undeliveredFires.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', period }),
          queues.parked.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', period }),
        ]),
      ],
      [
        graph('Executions at once', [
          claimedConcurrency(),
          ...lambdaMetrics(watched, 'ConcurrentExecutions', 'Maximum'),
        ]),
        graph('Failed or throttled invocations', [
          ...lambdaMetrics(watched, 'Errors', 'Sum'),
          ...lambdaMetrics(watched, 'Throttles', 'Sum'),
        ]),
        graph('The longest invocations', lambdaMetrics(watched, 'Duration', 'Maximum'), 'ms'),
      ],
      ...(watched.capacityProvider === undefined ? [] : [rowOfInstances(watched)]),
    ],
  });
}
