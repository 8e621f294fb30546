import type { Metric, MetricDataQuery } from '@aws-sdk/client-cloudwatch';
import { metricsService } from '../lambdas/aws/resources.ts';

/** @param Period seconds */
export const sumQuery = (Id: string, Metric: Metric, Period: number): MetricDataQuery => ({
  Id,
  MetricStat: { Metric, Period, Stat: 'Sum' },
});

export const ownQuery = (deployment: string, MetricName: string, Period: number): MetricDataQuery => {
  const Dimensions = [{ Name: 'service', Value: metricsService }];
  return sumQuery(MetricName.toLowerCase(), { Namespace: deployment, MetricName, Dimensions }, Period);
};
