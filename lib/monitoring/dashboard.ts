/** The dashboard for all regions. Its rows follow an operator's questions. */
import {
  AlarmStatusWidget,
  Dashboard,
  DashboardVariable,
  DefaultValue,
  GraphWidget,
  type IAlarm,
  type IMetric,
  type IWidget,
  SearchExpression,
  Values,
  VariableInputType,
  VariableType,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import type { metrics } from '../../lambdas/aws/metricTable.ts';
import { stageName } from '../api/api.ts';
import { namesOf } from '../names.ts';
import { apiMetric, claimedConcurrency, ownMetric, schedulerMetric, type Watched } from './alarms.ts';

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

const carrying = '(QueuesShort OR QueuesLong OR QueuesSlow OR QueuesFire)';
const failed = '(QueuesDead OR QueuesUndeliveredFires OR QueuesParked)';

export function makeDashboard(
  scope: Construct,
  { watched, alarms }: { readonly watched: Watched; readonly alarms: readonly IAlarm[] },
): void {
  const { settings, scheduleGroup } = watched;
  const { name, regions } = settings;
  const [region = '', ...others] = regions;
  const own = (...names: readonly Own[]): readonly IMetric[] => names.map((one) => ownMetric(watched, one));
  const times = (one: Own): readonly IMetric[] =>
    ['p50', 'p90', 'p99'].map((statistic) =>
      ownMetric(watched, one, statistic).with({ label: `${one} ${statistic}` }),
    );
  const ofApi = (metricName: string, statistic?: string): IMetric =>
    apiMetric(name, stageName, metricName, statistic);
  // Searched by name, because a template does not know the names of resources in another region.
  const search = (schema: string, metricName: string, statistic: string, ids = ''): IMetric =>
    new SearchExpression({
      expression: `SEARCH('{${schema}} MetricName="${metricName}" ${name}-${region} ${ids}', '${statistic}')`,
    });
  const ofQueues = (metricName: string, ids: string): IMetric =>
    search('AWS/SQS,QueueName', `Approximate${metricName}`, 'Maximum', ids);
  const ofFunctions = (metricName: string, statistic: string): IMetric =>
    search('AWS/Lambda,FunctionName', metricName, statistic);
  const ofEnvironments = (metricName: string): IMetric =>
    search('AWS/Lambda,CapacityProviderName,FunctionName', `ExecutionEnvironment${metricName}`, 'Maximum');
  new Dashboard(scope, 'Dashboard', {
    dashboardName: namesOf(settings).dashboard(region),
    // The variable replaces the region in graphs, ARNs of alarms and names.
    ...(others.length > 0 && {
      variables: [
        new DashboardVariable({
          id: 'region',
          type: VariableType.PATTERN,
          inputType: VariableInputType.RADIO,
          label: 'Region',
          value: region,
          values: Values.fromValues(...regions.map((value) => ({ value }))),
          defaultValue: DefaultValue.value(region),
        }),
      ],
    }),
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
        graph('In flight: jobs in functions', [ofQueues('NumberOfMessagesNotVisible', carrying)]),
      ],
      [
        graph('Due: jobs that wait for a function', [ofQueues('NumberOfMessagesVisible', carrying)]),
        graph('Age of the oldest job', [ofQueues('AgeOfOldestMessage', carrying)], 's'),
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
          own('AwsErrors', 'DynamodbErrors', 'SqsErrors', 'S3Errors', 'SchedulerErrors', 'SecretsErrors'),
        ),
        graph(
          'Throttled AWS calls',
          own(
            'AwsThrottles',
            'DynamodbThrottles',
            'SqsThrottles',
            'S3Throttles',
            'SchedulerThrottles',
            'SecretsThrottles',
          ),
        ),
        graph('Failed work: queues', [ofQueues('NumberOfMessagesVisible', failed)]),
      ],
      [
        graph('Executions at once', [claimedConcurrency(), ofFunctions('ConcurrentExecutions', 'Maximum')]),
        graph('Failed or throttled invocations', [
          ofFunctions('Errors', 'Sum'),
          ofFunctions('Throttles', 'Sum'),
        ]),
        graph('The longest invocations', [ofFunctions('Duration', 'Maximum')], 'ms'),
      ],
      watched.capacityProvider === undefined
        ? []
        : [
            graph('Instances: messages of an execution environment', [
              ofEnvironments('Concurrency'),
              ofEnvironments('ConcurrencyLimit'),
            ]),
            graph('Instances: memory', [ofEnvironments('MemoryUtilization')], '%'),
            graph('Instances: CPU', [ofEnvironments('CPUUtilization')], '%'),
          ],
    ],
  });
}
