/** The metrics that a template's alarms watch, as queries for `GetMetricData`. */
import type { MetricDataQuery } from '@aws-sdk/client-cloudwatch';
import * as z from 'zod';
import type { StackTemplate } from '../deployment.ts';

/** A text, or the logical id of the resource that provides it: a dimension may have any value. */
const text = z.union([
  z.string(),
  z.object({ Ref: z.string() }).transform(({ Ref }) => Ref),
  z
    .object({ 'Fn::GetAtt': z.tuple([z.string(), z.string()]) })
    .transform((get) => get['Fn::GetAtt'].join('.')),
]);
const dimensions = z.array(z.object({ Name: z.string(), Value: text })).optional();

const single = z
  .object({
    Namespace: z.string(),
    MetricName: z.string(),
    Dimensions: dimensions,
    Period: z.number(),
    Statistic: z.string().optional(),
    ExtendedStatistic: z.string().optional(),
  })
  .transform(({ Period, Statistic, ExtendedStatistic, ...Metric }): MetricDataQuery[] => [
    { Id: 'm0', MetricStat: { Metric, Period, Stat: Statistic ?? ExtendedStatistic } },
  ]);

const several = z
  .object({
    Metrics: z.array(
      z.object({
        Id: z.string(),
        Expression: z.string().optional(),
        Label: z.string().optional(),
        ReturnData: z.boolean().optional(),
        Period: z.number().optional(),
        MetricStat: z
          .object({
            Metric: z.object({ Namespace: z.string(), MetricName: z.string(), Dimensions: dimensions }),
            Period: z.number(),
            Stat: z.string(),
          })
          .optional(),
      }),
    ),
  })
  .transform(({ Metrics }): MetricDataQuery[] => Metrics);

const alarm = z.union([several, single]);

interface AlarmQueries {
  readonly logicalId: string;
  readonly queries: MetricDataQuery[];
}

/** @throws ZodError if an alarm has an unknown form */
export const alarmQueriesIn = ({ resources }: StackTemplate): readonly AlarmQueries[] =>
  Object.entries(resources)
    .filter(([, { Type }]) => Type === 'AWS::CloudWatch::Alarm')
    .map(([logicalId, { Properties }]) => ({ logicalId, queries: alarm.parse(Properties) }));
