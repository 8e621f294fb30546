import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';

/** Metrics are lines of the log that CloudWatch reads; they cost no call. */
const metrics = new Metrics();

/** Counts something of an account that operators may want an alarm for. */
export function countMetric(name: string, value: number, accountId: string): void {
  const single = metrics.singleMetric();
  single.addMetadata('accountId', accountId);
  single.addMetric(name, MetricUnit.Count, value);
}

/** Counts something as a metric of the account's own, by the dimension `account`. */
export function countMetricOf(accountId: string, name: string, value: number): void {
  const single = metrics.singleMetric();
  single.addDimension('account', accountId);
  single.addMetric(name, MetricUnit.Count, value);
}
