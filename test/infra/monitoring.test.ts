import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { awsServices, metrics } from '../../lambdas/aws/metricTable.ts';
import { alarmList, alarmTable, type AwsAlarm } from '../../lib/monitoring/alarmTable.ts';
import { firstOf, properties, reference, resources, root, synthesize, synthesizeOne } from './app.ts';
import { fieldsOfQuery } from './logsInsights.ts';
import { faultInExpression } from './metricMath.ts';
import { type Context, elsewhere, everythingOn, instances, tuned } from './variants.ts';

const { service } = synthesizeOne();
const { service: withInstances } = firstOf(synthesize(instances));

const dimension = z.object({ Name: z.string(), Value: z.union([z.string(), reference]) });
const metric = z.object({
  Namespace: z.string(),
  MetricName: z.string(),
  Dimensions: z.array(dimension).default([]),
});
const alarmShape = z.object({
  AlarmName: z.string(),
  AlarmDescription: z.string(),
  Threshold: z.number(),
  EvaluationPeriods: z.number(),
  DatapointsToAlarm: z.number(),
  ComparisonOperator: z.string(),
  TreatMissingData: z.string(),
  AlarmActions: z.array(reference),
  OKActions: z.array(reference),
  Namespace: z.string().optional(),
  MetricName: z.string().optional(),
  Dimensions: z.array(dimension).optional(),
  Statistic: z.string().optional(),
  ExtendedStatistic: z.string().optional(),
  Period: z.number().optional(),
  // With a unit, CloudWatch finds only data that were written with it.
  Unit: z.never().optional(),
  Metrics: z
    .array(
      z.object({
        Id: z.string(),
        Expression: z.string().optional(),
        ReturnData: z.boolean().optional(),
        MetricStat: z
          .object({ Metric: metric, Period: z.number(), Stat: z.string(), Unit: z.never().optional() })
          .optional(),
      }),
    )
    .default([]),
});
type AlarmInTemplate = z.output<typeof alarmShape>;

const alarmsIn = (template: Template): readonly AlarmInTemplate[] =>
  properties(template, 'AWS::CloudWatch::Alarm', alarmShape);

/** The metrics that an alarm watches: a single one, or those of its expression. */
const watchedBy = ({ Namespace, MetricName, Dimensions = [], Metrics }: AlarmInTemplate) =>
  Namespace === undefined || MetricName === undefined
    ? Metrics.flatMap(({ MetricStat }) => MetricStat?.Metric ?? [])
    : [{ Namespace, MetricName, Dimensions }];

const alarms = alarmsIn(service);
const shortName = ({ AlarmName }: AlarmInTemplate): string => AlarmName.replace(/^\w+-/, '');
const alarmsWithInstances = alarmsIn(withInstances);
const names = alarmList.map(([name]) => name);
const namesByDefault = alarmList.flatMap(([name, { onInstances }]) => (onInstances === true ? [] : [name]));

/** The AWS metrics that are used, with their documented dimensions. */
const ofAws: Readonly<Record<string, { readonly metrics: readonly string[]; readonly dimensions: string }>> =
  {
    'AWS/SQS': {
      metrics: [
        'ApproximateAgeOfOldestMessage',
        'ApproximateNumberOfMessagesDelayed',
        'ApproximateNumberOfMessagesNotVisible',
        'ApproximateNumberOfMessagesVisible',
      ],
      dimensions: 'QueueName',
    },
    'AWS/Lambda': {
      metrics: ['Errors', 'Throttles', 'Duration', 'ConcurrentExecutions', 'Url5xxCount'],
      dimensions: 'FunctionName',
    },
    'AWS/ApiGateway': { metrics: ['Count', '4XXError', '5XXError', 'Latency'], dimensions: 'ApiName Stage' },
    'AWS/Scheduler': {
      metrics: [
        'InvocationAttemptCount',
        'InvocationDroppedCount',
        'InvocationThrottleCount',
        'InvocationsFailedToBeSentToDeadLetterCount',
        'TargetErrorCount',
        'TargetErrorThrottledCount',
      ],
      dimensions: 'ScheduleGroup',
    },
  };
/** The metrics of execution environments on managed instances ("Monitoring Lambda Managed Instances"). */
const ofEnvironments = {
  metrics: [
    'ExecutionEnvironmentConcurrency',
    'ExecutionEnvironmentConcurrencyLimit',
    'ExecutionEnvironmentCPUUtilization',
    'ExecutionEnvironmentMemoryUtilization',
  ],
  dimensions: 'CapacityProviderName FunctionName',
};
/** AWS's only metric for all functions of an account and region together. */
const ofTheAccount = 'ClaimedAccountConcurrency';

/** The type of resource whose name is the value of a dimension. */
const typeOf: Readonly<Record<string, string>> = {
  QueueName: 'AWS::SQS::Queue',
  CapacityProviderName: 'AWS::Lambda::CapacityProvider',
  FunctionName: 'AWS::Lambda::Function',
  Stage: 'AWS::ApiGateway::Stage',
  ScheduleGroup: 'AWS::Scheduler::ScheduleGroup',
};

type Watched = z.output<typeof metric>;

/** Describes what is wrong with a metric; undefined if the functions write it or AWS has it. */
function faultOf({ Namespace, MetricName, Dimensions }: Watched, template: Template): string | undefined {
  const dimensions = Dimensions.map(({ Name }) => Name).sort();
  const known =
    Namespace === 'AWS/Lambda' && ofEnvironments.metrics.includes(MetricName)
      ? ofEnvironments
      : Object.hasOwn(ofAws, Namespace)
        ? ofAws[Namespace]
        : undefined;
  if (known === undefined) {
    if (Namespace === 'Svc' && MetricName === 'FunctionErrors' && dimensions.length === 0) return undefined;
    const isOwn = Namespace === 'Svc' && Object.hasOwn(metrics, MetricName);
    const hasOne =
      Dimensions.length === 1 && Dimensions[0]?.Name === 'service' && Dimensions[0].Value === 'messaging';
    return isOwn && hasOne ? undefined : `${Namespace} ${MetricName} is written by nobody`;
  }
  if (Namespace === 'AWS/Lambda' && MetricName === ofTheAccount && dimensions.length === 0) return undefined;
  if (!known.metrics.includes(MetricName)) return `${Namespace} has no ${MetricName}`;
  if (dimensions.join(' ') !== known.dimensions) return `${MetricName} has no ${dimensions.join(' ')}`;
  for (const { Name, Value } of Dimensions) {
    const type = typeOf[Name];
    if (type === undefined) {
      if (!['Svc', 'Svc-management'].includes(Value)) return `There is no API ${Value}`;
    } else if (Value !== 'api' && resources(template).get(Value)?.Type !== type) {
      return `${Name} ${Value} is no ${type}`;
    }
  }
  return undefined;
}

/** A region's dashboard. CloudFormation's references in it are `x`. */
function dashboardIn(template: Template) {
  const [body = ''] = properties(
    template,
    'AWS::CloudWatch::Dashboard',
    z.object({
      DashboardBody: z
        .object({ 'Fn::Join': z.tuple([z.literal(''), z.array(z.unknown())]) })
        .transform((join) =>
          join['Fn::Join'][1].map((part) => (typeof part === 'string' ? part : 'x')).join(''),
        ),
    }),
  ).map(({ DashboardBody }) => DashboardBody);
  return z
    .object({
      variables: z.array(z.unknown()).optional(),
      widgets: z.array(
        z.object({ properties: z.object({ metrics: z.array(z.array(z.unknown())).default([]) }) }),
      ),
    })
    .parse(JSON.parse(body));
}
const widgetsIn = (template: Template) => dashboardIn(template).widgets;

/** The functions' code. */
const sources = readdirSync(join(root, 'lambdas'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && name !== 'metricTable.ts')
  .map((name) => readFileSync(join(root, 'lambdas', name), 'utf8'))
  .join('\n');

describe('the alarms', () => {
  it('are those of the table, and each says where to read on', () => {
    expect(alarms.map(shortName).sort()).toEqual([...namesByDefault].sort());
    expect(alarmsWithInstances.map(shortName).sort()).toEqual([...names].sort());
    for (const alarm of alarms) {
      expect(alarm.AlarmDescription).toContain(`docs/operate.md, "${shortName(alarm)}"`);
    }
  });

  it('watch metrics that the functions write or that AWS has, of existing resources', () => {
    const found = alarms.flatMap((alarm) => watchedBy(alarm).map((watched) => faultOf(watched, service)));
    expect(found.length).toBeGreaterThan(alarms.length);
    expect(found.filter((fault) => fault !== undefined)).toEqual([]);
  });

  it('have the threshold of the table, and stay quiet without data', () => {
    for (const alarm of alarms) {
      const shape = alarmList.find(([name]) => name === shortName(alarm))?.[1];
      expect(alarm).toMatchObject({
        Threshold: shape?.atLeast,
        DatapointsToAlarm: shape?.periods,
        ComparisonOperator: 'GreaterThanOrEqualToThreshold',
        TreatMissingData: 'notBreaching',
      });
    }
  });

  it('count metrics without data as 0 in a sum: CloudWatch would have no sum', () => {
    const sums = alarms.flatMap(({ Metrics }) => Metrics.flatMap(({ Expression }) => Expression ?? []));
    expect(sums.length).toBeGreaterThan(4);
    for (const sum of sums) {
      expect(sum.match(/\bm\d+/g)?.length).toBe(sum.match(/FILL\(m\d+, 0\)/g)?.length);
    }
  });

  it('stay on even if each value comes five minutes late, and is missing or 0 until then', () => {
    for (const { AlarmName, EvaluationPeriods, DatapointsToAlarm } of alarms) {
      // The condition is true in as many periods as the table says. The data of the last one is not there
      // yet.
      const known = [...Array.from({ length: DatapointsToAlarm }, () => true), false];
      expect(known.slice(-EvaluationPeriods).filter(Boolean).length, AlarmName).toBe(DatapointsToAlarm);
    }
  });

  it('compute one series of metrics with one period, in the language of CloudWatch', () => {
    const computed = alarms.filter(({ Metrics }) => Metrics.length > 0);
    expect(computed.length).toBeGreaterThan(4);
    for (const { AlarmName, Metrics } of computed) {
      const ids = Metrics.flatMap(({ Id, MetricStat }) => (MetricStat === undefined ? [] : [Id]));
      const expressions = Metrics.flatMap(({ Expression }) => Expression ?? []);
      expect(expressions, AlarmName).toHaveLength(1);
      expect(faultInExpression(expressions.join(), ids), AlarmName).toBeUndefined();
      const shown = Metrics.filter(({ ReturnData }) => ReturnData !== false);
      expect(
        shown.map(({ Expression }) => Expression),
        AlarmName,
      ).toEqual(expressions);
      expect(
        Metrics.flatMap(({ MetricStat }) => MetricStat?.Period ?? []),
        AlarmName,
      ).toEqual(ids.map(() => 300));
    }
  });

  it('fit what an alarm may have: ten metrics, and a day', () => {
    for (const alarm of alarms) {
      expect(watchedBy(alarm).length).toBeLessThan(10);
      expect(alarm.EvaluationPeriods * 300).toBeLessThanOrEqual(86_400);
    }
  });

  it('are sent to the one topic when they begin and when they end', () => {
    const [topic] = resources(service, 'AWS::SNS::Topic').keys();
    for (const { AlarmActions, OKActions } of alarms) {
      expect([AlarmActions, OKActions]).toEqual([[topic], [topic]]);
    }
  });

  it('are as many metrics as docs/cost.md says', () => {
    const watched = alarms.reduce((sum, alarm) => sum + watchedBy(alarm).length, 0);
    expect(readFileSync(join(root, 'docs/cost.md'), 'utf8')).toContain(
      `${alarms.length} alarms of ${watched} metrics`,
    );
  });

  it('watch the management API in the first region, where it is, and the publish URL if there is one', () => {
    const [home, other] = synthesize(elsewhere).regions.map((region) =>
      alarmsIn(region.service)
        .filter((alarm) => shortName(alarm) === 'Api5xx')
        .flatMap(watchedBy)
        .map(({ MetricName, Dimensions }) => `${MetricName} ${Dimensions[0]?.Value}`),
    );
    expect(home).toHaveLength(3);
    expect(home).toContain('5XXError Queue-management');
    expect(other).toHaveLength(2);
    expect(home?.filter((one) => one.startsWith('Url5xxCount Publish'))).toHaveLength(1);
  });

  it('count failed invocations in the logs of the functions that messages pass, and a timeout as five', () => {
    const filters = properties(
      service,
      'AWS::Logs::MetricFilter',
      z.object({
        FilterPattern: z.string(),
        LogGroupName: reference,
        MetricTransformations: z.tuple([
          z.object({
            MetricName: z.literal('FunctionErrors'),
            MetricNamespace: z.literal('Svc'),
            MetricValue: z.string(),
          }),
        ]),
      }),
    );
    expect(new Set(filters.map(({ LogGroupName }) => LogGroupName)).size).toBe(8);
    const counted = (status: string): number =>
      filters
        .filter(({ LogGroupName }) => LogGroupName === filters[0]?.LogGroupName)
        .filter(({ FilterPattern }) => {
          const [, is, value] =
            /^\{ \$\.type = "platform\.report" && \$\.record\.status (!?=) "(\w+)" \}$/.exec(FilterPattern) ??
            [];
          return (status === value) === (is === '=');
        })
        .reduce((sum, { MetricTransformations: [{ MetricValue }] }) => sum + Number(MetricValue), 0);
    expect(['success', 'error', 'failure', 'timeout'].map(counted)).toEqual([0, 1, 1, 5]);
    expect(alarms.find((one) => shortName(one) === 'FunctionErrors')?.Threshold).toBe(5);
  });

  it('compare concurrency with the limit in the settings', () => {
    const raised = alarmsIn(synthesizeOne(tuned).service);
    const expressions = raised
      .filter((alarm) => shortName(alarm) === 'Concurrency')
      .flatMap(({ Metrics }) => Metrics.flatMap(({ Expression }) => Expression ?? []));
    expect(expressions).toEqual(['claimed / 5000']);
  });
});

interface OnAws {
  readonly namespace: keyof typeof documents;
  readonly metrics: readonly string[];
  readonly statistic: 'Maximum' | 'Sum';
  /**
   * The lowest value of one metric that raises the alarm if the others have no data, in the document's unit.
   */
  readonly value: number | ((resource: string) => number);
}

/** AWS's documents about names, units and dimensions of metrics. */
const documents = {
  'AWS/SQS':
    'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html',
  'AWS/Lambda': 'https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html',
  'AWS/ApiGateway':
    'https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html',
  'AWS/Scheduler': 'https://docs.aws.amazon.com/scheduler/latest/UserGuide/monitoring-cloudwatch.html',
} as const;

/** The alarms that no test here can trigger, because AWS writes their metrics. */
const onAws: Readonly<Record<Exclude<AwsAlarm, 'FunctionErrors'>, OnAws>> = {
  WorkInDeadQueue: {
    namespace: 'AWS/SQS',
    metrics: [
      'ApproximateNumberOfMessagesVisible',
      'ApproximateNumberOfMessagesNotVisible',
      'ApproximateNumberOfMessagesDelayed',
    ],
    statistic: 'Maximum',
    value: 1,
  },
  OldestWork: {
    namespace: 'AWS/SQS',
    metrics: Array.from({ length: 5 }, () => 'ApproximateAgeOfOldestMessage'),
    statistic: 'Maximum',
    // Seconds; an attempt in the queues `long` and `slow` may take 900 of them.
    value: (queue) => (/^Queues(Long|Slow)/.test(queue) ? 2_100 : 1_200),
  },
  UndeliveredFires: {
    namespace: 'AWS/SQS',
    metrics: ['ApproximateNumberOfMessagesVisible'],
    statistic: 'Maximum',
    value: 1,
  },
  WorkParked: {
    namespace: 'AWS/SQS',
    metrics: ['ApproximateNumberOfMessagesVisible'],
    statistic: 'Maximum',
    value: 1,
  },
  SchedulerTarget: {
    namespace: 'AWS/Scheduler',
    metrics: ['TargetErrorCount', 'InvocationsFailedToBeSentToDeadLetterCount'],
    statistic: 'Sum',
    value: 1,
  },
  Api5xx: {
    namespace: 'AWS/ApiGateway',
    metrics: ['5XXError', '5XXError', 'Url5xxCount'],
    statistic: 'Sum',
    value: 5,
  },
  LambdaThrottles: {
    namespace: 'AWS/Lambda',
    metrics: Array.from({ length: 4 }, () => 'Throttles'),
    statistic: 'Sum',
    value: 10,
  },
  InstancesFull: {
    namespace: 'AWS/Lambda',
    metrics: ['Throttles', 'Throttles'],
    statistic: 'Sum',
    value: 10,
  },
  InstancesMemory: {
    namespace: 'AWS/Lambda',
    metrics: Array.from({ length: 2 }, () => 'ExecutionEnvironmentMemoryUtilization'),
    statistic: 'Maximum',
    // Percent.
    value: 90,
  },
  Concurrency: {
    namespace: 'AWS/Lambda',
    metrics: ['ClaimedAccountConcurrency'],
    statistic: 'Maximum',
    value: 800,
  },
};

/** CloudWatch's result of an alarm's expression, with 0 for metrics without data. */
const evaluated = (expression: string, values: Readonly<Record<string, number | undefined>>): number =>
  z.number().parse(
    runInNewContext(expression, {
      ...values,
      FILL: (value: number | undefined, otherwise: number) => value ?? otherwise,
      MAX: (all: readonly number[]) => Math.max(...all),
    }),
  );

/** An alarm's metrics, and its value computed from theirs. */
function partsOf(alarm: AlarmInTemplate) {
  const [own] = alarm.Metrics.length === 0 ? watchedBy(alarm) : [];
  if (own !== undefined) {
    const valueOf = (values: Readonly<Record<string, number | undefined>>): number => values['own'] ?? 0;
    return { stats: [{ id: 'own', metric: own, statistic: alarm.Statistic }], valueOf };
  }
  const expression = alarm.Metrics.flatMap(({ Expression }) => Expression ?? []).join();
  const stats = alarm.Metrics.flatMap(({ Id, MetricStat }) =>
    MetricStat === undefined ? [] : [{ id: Id, metric: MetricStat.Metric, statistic: MetricStat.Stat }],
  );
  const none = Object.fromEntries(stats.map(({ id }) => [id, undefined]));
  return {
    stats,
    valueOf: (values: Readonly<Record<string, number | undefined>>): number =>
      evaluated(expression, { ...none, ...values }),
  };
}

describe('an alarm on metrics of AWS', () => {
  it.each(Object.entries(onAws))(
    '%s: watches what AWS documents, and each metric alone turns it on',
    (name, { namespace, metrics: expected, statistic, value }) => {
      const alarm = [...alarms, ...alarmsWithInstances].find((one) => shortName(one) === name);
      if (alarm === undefined) throw new Error(`There is no alarm ${name}.`);
      const { stats, valueOf } = partsOf(alarm);
      const found = stats.map((one) => ({ ...one.metric, statistic: one.statistic }));
      expect(found, documents[namespace]).toMatchObject(
        expected.map((MetricName) => ({
          Namespace: MetricName.startsWith('Url') ? 'AWS/Lambda' : namespace,
          MetricName,
          statistic,
        })),
      );
      for (const { id, metric: watched } of stats) {
        const least = typeof value === 'number' ? value : value(watched.Dimensions[0]?.Value ?? '');
        expect(valueOf({ [id]: least }), `${id} at its threshold`).toBeGreaterThanOrEqual(alarm.Threshold);
        expect(valueOf({ [id]: least - 1 }), `${id} below it`).toBeLessThan(alarm.Threshold);
      }
    },
  );
});

describe('with managed instances', () => {
  const valueOf = (name: string) => {
    const alarm = alarmsWithInstances.find((one) => shortName(one) === name);
    if (alarm === undefined) throw new Error(`There is no alarm ${name}.`);
    const parts = partsOf(alarm);
    return (resource: RegExp, value: number): number => {
      const stat = parts.stats.find(({ metric: { Dimensions } }) =>
        Dimensions.some(({ Value }) => resource.test(Value)),
      );
      if (stat === undefined) throw new Error(`${name} watches no ${resource.source}.`);
      return parts.valueOf({ [stat.id]: value });
    };
  };

  it('alarms watch existing metrics of existing resources', () => {
    const found = alarmsWithInstances.flatMap((alarm) =>
      watchedBy(alarm).map((watched) => faultOf(watched, withInstances)),
    );
    expect(found.filter((fault) => fault !== undefined)).toEqual([]);
  });

  it('a job may be in progress for as long as its function runs before it counts as old', () => {
    const old = valueOf('OldestWork');
    expect(old(/^QueuesLong/, 5_400 + 1_199)).toBeLessThan(1_200);
    expect(old(/^QueuesLong/, 5_400 + 1_200)).toBe(1_200);
    expect(old(/^QueuesSlow/, 900 + 1_200)).toBe(1_200);
  });

  it('errors of the functions on them count by Lambda’s metric, and of the others by their logs', () => {
    const errors = valueOf('FunctionErrors');
    for (const name of [/^DeliverLong/, /^DeliverAlone/]) expect(errors(name, 5)).toBe(5);
    expect(() => errors(/^DeliverShort/, 5)).toThrow('watches no');
    withInstances.resourceCountIs('AWS::Logs::MetricFilter', 2 * 6);
  });

  it('Lambda’s throttles are distinguished by what has no room: the account, or the instances', () => {
    const watchedFunctions = (name: string): number =>
      alarmsWithInstances.filter((one) => shortName(one) === name).flatMap(watchedBy).length;
    expect([watchedFunctions('LambdaThrottles'), watchedFunctions('InstancesFull')]).toEqual([3, 2]);
  });

  it('the dashboard shows their memory, CPU and messages, but not by default', () => {
    const shown = (template: Template): string =>
      JSON.stringify([...resources(template, 'AWS::CloudWatch::Dashboard').values()]);
    for (const name of ofEnvironments.metrics) {
      expect(shown(withInstances)).toContain(name);
      expect(shown(service)).not.toContain(name);
    }
  });
});

describe('each alarm', () => {
  const document = readFileSync(join(root, 'docs/operate.md'), 'utf8');
  // Alarms with the same remedy share a section, whose heading has their names.
  const sections = new Map(
    document
      .split(/^### /m)
      .slice(1)
      .flatMap((section) => (section.split('\n')[0] ?? '').split(', ').map((name) => [name, section])),
  );

  it('has a section in docs/operate.md, and each section its alarms', () => {
    expect([...sections.keys()].sort()).toEqual([...names].sort());
  });

  it.each(names)('%s: says what it means and what to do', (name) => {
    const section = sections.get(name) ?? '';
    expect(section).toMatch(/\*\*Means\.\*\*/);
    expect(section).toMatch(/\*\*Do\.\*\*/);
  });

  it('has a saved query, over existing logs', () => {
    const saved = properties(
      service,
      'AWS::Logs::QueryDefinition',
      z.object({ Name: z.string(), QueryString: z.string(), LogGroupNames: z.array(reference) }),
    );
    expect(saved.map(({ Name }) => Name).sort()).toEqual(namesByDefault.map((name) => `Svc/${name}`).sort());
    const logs = resources(service, 'AWS::Logs::LogGroup');
    for (const { Name, QueryString, LogGroupNames } of saved) {
      expect(QueryString, Name).toBe(
        alarmTable[names.find((name) => Name === `Svc/${name}`) ?? 'Lateness'].query.text,
      );
      expect(LogGroupNames.length, Name).toBeGreaterThan(0);
      expect(LogGroupNames.length, Name).toBeLessThanOrEqual(50);
      expect(LogGroupNames.filter((group) => !logs.has(group))).toEqual([]);
    }
  });

  it.each(names)(
    '%s: its query is one of Logs Insights, of fields that the functions or Lambda write',
    (name) => {
      const fields = fieldsOfQuery(alarmTable[name].query.text);
      const ofLambda = ['@timestamp', '@log', '@message', 'type', 'level', 'service', 'message'];
      const isLambdas = (field: string) => ofLambda.includes(field) || field.startsWith('record.');
      // The logger writes an error as an object with a name and a message.
      const own = fields.filter((field) => !isLambdas(field) && !/^error\.(name|message)$/.test(field));
      expect(own.filter((field) => !new RegExp(`\\b${field}\\b`).test(sources))).toEqual([]);
    },
  );
});

describe('the metrics', () => {
  const built = awsServices.flatMap((one) => [`${one}Errors`, `${one}Throttles`]);

  it.each(Object.keys(metrics).filter((name) => !built.includes(name)))(
    '%s is written by the functions',
    (name) => {
      expect(sources).toContain(`'${name}'`);
    },
  );

  it.each(awsServices)('of the failures of %s are written by its client', (one) => {
    expect(sources).toMatch(new RegExp(`prepare(?:Client)?\\(\\s*'${one}'`));
  });

  it('are on the dashboard, all of the region, which has nothing that is not written', () => {
    const shown = widgetsIn(withInstances).flatMap(({ properties: { metrics: all } }) => all);
    const own = shown.flatMap(([space, name]) => (space === 'Svc' ? [String(name)] : []));
    const ofRegion = Object.entries(metrics).flatMap(([name, { per }]) => (per === 'region' ? [name] : []));
    expect([...new Set(own)].sort()).toEqual([...ofRegion].sort());
    const ofOthers = shown.flatMap(([space, name]) =>
      typeof space === 'string' && space !== 'Svc' ? [`${space} ${String(name)}`] : [],
    );
    const known = Object.entries(ofAws).flatMap(([space, { metrics: all }]) =>
      [...all, ofTheAccount].map((name) => `${space} ${name}`),
    );
    expect(ofOthers.filter((one) => !known.includes(one))).toEqual([]);
  });

  it('of queues and functions are searched by the beginning of the names that CloudFormation gives them', () => {
    const searches = widgetsIn(withInstances).flatMap(({ properties: { metrics: all } }) =>
      all.flatMap((parts) => z.object({ expression: z.string() }).safeParse(parts[0]).data?.expression ?? []),
    );
    expect(searches.length).toBeGreaterThan(10);
    const queues = [...resources(withInstances, 'AWS::SQS::Queue').keys()];
    for (const expression of searches) {
      const [, space = '', dimensions = '', name = '', ids = ''] =
        /^SEARCH\('\{(AWS\/\w+),([\w,]+)\} MetricName="(\w+)" Svc-eu-central-1 (?:\(([\w ]+)\))?', '(?:Maximum|Sum)'\)$/.exec(
          expression,
        ) ?? [];
      const known = [ofAws[space], ofEnvironments].find((one) => one?.metrics.includes(name));
      expect(known?.dimensions.replaceAll(' ', ','), expression).toBe(dimensions);
      for (const id of ids === '' ? [] : ids.split(' OR '))
        expect(
          queues.filter((queue) => queue.startsWith(id)),
          id,
        ).toHaveLength(1);
    }
  });

  it.each(['true', 'essential', 'false'])(
    'have at most one dashboard for all regions: monitoring=%s',
    (monitoring) => {
      const [home, other] = synthesize({ monitoring }).regions;
      const isShown = monitoring === 'true';
      home?.service.resourceCountIs('AWS::CloudWatch::Dashboard', isShown ? 1 : 0);
      other?.service.resourceCountIs('AWS::CloudWatch::Dashboard', 0);
      if (!isShown || home === undefined) return;
      // The first region's dashboard had this name before. CloudFormation would have to replace it for another.
      home.service.hasResourceProperties('AWS::CloudWatch::Dashboard', { DashboardName: 'Svc-eu-central-1' });
      expect(dashboardIn(home.service).variables).toEqual([
        expect.objectContaining({
          type: 'pattern',
          pattern: 'eu-central-1',
          defaultValue: 'eu-central-1',
          values: [{ value: 'eu-central-1' }, { value: 'us-east-1' }],
        }),
      ]);
      expect(dashboardIn(service).variables).toBeUndefined();
    },
  );

  it('are described in docs/metrics.md', () => {
    const document = readFileSync(join(root, 'docs/metrics.md'), 'utf8');
    const missing = Object.keys(metrics).filter((name) => !document.includes(`\`${name}\``));
    expect(missing).toEqual([]);
  });
});

describe('the topic', () => {
  it('accepts notifications of this AWS account’s alarms, and has no key, which would be billed each month', () => {
    const policies = JSON.stringify([...resources(service, 'AWS::SNS::TopicPolicy').values()]);
    expect(policies).toContain('"Principal":{"Service":"cloudwatch.amazonaws.com"}');
    expect(policies).toContain('"aws:SourceAccount":{"Ref":"AWS::AccountId"}');
    service.hasResourceProperties('AWS::SNS::Topic', {
      TopicName: 'Svc-alarms',
      KmsMasterKeyId: Match.absent(),
    });
    service.resourceCountIs('AWS::KMS::Key', 0);
  });

  it('sends to no one by default, and to the addresses in the settings', () => {
    service.resourceCountIs('AWS::SNS::Subscription', 0);
    const { service: mailing } = synthesizeOne(tuned);
    const sent = properties(
      mailing,
      'AWS::SNS::Subscription',
      z.object({ Protocol: z.string(), Endpoint: z.string() }),
    );
    expect(sent.map(({ Protocol, Endpoint }) => `${Protocol} ${Endpoint}`).sort()).toEqual([
      'email night@example.com',
      'email ops@example.com',
    ]);
  });
});

describe('traces', () => {
  const tracing = (context: Context) => {
    const { service: one, management } = synthesizeOne(context);
    return [one, management].flatMap((template) => [
      ...properties(
        template,
        'AWS::Lambda::Function',
        z.object({ TracingConfig: z.object({ Mode: z.string() }).optional() }),
      ).map(({ TracingConfig }) => TracingConfig?.Mode),
      ...properties(
        template,
        'AWS::ApiGateway::Stage',
        z.object({ TracingEnabled: z.boolean().optional() }),
      ).map(({ TracingEnabled }) => (TracingEnabled === true ? 'Active' : undefined)),
    ]);
  };

  it('are not made by default', () => {
    expect(new Set(tracing({}))).toEqual(new Set([undefined]));
  });

  it('are made by every function and API if the settings say so, and functions know it', () => {
    expect(new Set(tracing(everythingOn))).toEqual(new Set(['Active']));
    const { service: one } = synthesizeOne(everythingOn);
    one.allResourcesProperties('AWS::Lambda::Function', { Environment: { Variables: { TRACING: 'true' } } });
  });
});

describe('the essential alarms', () => {
  const essential = synthesize({ monitoring: 'essential' }).regions;

  it('are six, with their queries and the topic, and there is no other monitoring', () => {
    const wanted = ['Api5xx', 'GivenUp', 'OldestWork', 'UndeliveredFires', 'WorkFaults', 'WorkOutages'];
    for (const { service: one } of essential) {
      expect(alarmsIn(one).map(shortName).sort()).toEqual(wanted);
      const saved = properties(one, 'AWS::Logs::QueryDefinition', z.object({ Name: z.string() }));
      expect(saved.map(({ Name }) => Name).sort()).toEqual(wanted.map((name) => `Svc/${name}`));
      one.resourceCountIs('AWS::CloudWatch::Dashboard', 0);
      one.resourceCountIs('AWS::SNS::Topic', 1);
    }
    const documented = readFileSync(join(root, 'docs/settings.md'), 'utf8');
    for (const name of wanted) expect(documented).toContain(`\`${name}\``);
  });

  it('watch at most twelve metrics in a region, of which ten are free in an AWS account', () => {
    const counts = essential.map(({ service: one }) => alarmsIn(one).flatMap(watchedBy).length);
    expect(counts).toEqual([12, 11]);
  });
});

it('There is no monitoring if the settings say so', () => {
  const { service: bare } = firstOf(synthesize({ monitoring: 'false' }));
  const types = new Set([...resources(bare).values()].map(({ Type }) => Type));
  const own = /^AWS::(CloudWatch|SNS|KMS)|QueryDefinition/;
  expect([...types].filter((type) => own.test(type))).toEqual([]);
});
