import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { MetricName } from './resources.ts';

/** Metrics are lines of the log that CloudWatch reads, so they cost no call. */
const metrics = new Metrics();

/** Counts a metric of this function. The log's line names the account; the metric does not. */
export function countMetric(name: MetricName<'function'>, value: number, accountId: string): void {
  const single = metrics.singleMetric();
  single.addMetadata('accountId', accountId);
  single.addMetric(name, MetricUnit.Count, value);
}

/** Counts a metric of the account's own. */
export function countMetricOf(accountId: string, name: MetricName<'account'>, value: number): void {
  const single = metrics.singleMetric();
  single.addDimension('account', accountId);
  single.addMetric(name, MetricUnit.Count, value);
}
