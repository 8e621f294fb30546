import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { MetricName } from './metricTable.ts';
import { metricsService } from './resources.ts';

/** Metrics are lines of the log that CloudWatch reads, so they cost no call. */
const metrics = new Metrics({ serviceName: metricsService });

/** The counts since the last line: a batch of ten adds up to one number each. */
const counts = new Map<string, number>();

/** Whether nothing collects metrics, as on one machine. Then they are not kept. */
const isOff = process.env['POWERTOOLS_METRICS_DISABLED'] === 'true';

/** Adds to a metric of the region. */
export function count(name: MetricName<'count'>, value = 1): void {
  if (!isOff) counts.set(name, (counts.get(name) ?? 0) + value);
}

/** Keeps the largest value of a metric of the region. */
export function countLargest(name: MetricName<'largest'>, value: number): void {
  if (!isOff) counts.set(name, Math.max(counts.get(name) ?? 0, value));
}

/** Adds a time, ms. Clocks of processes differ: a negative time counts as 0. */
export function measure(name: MetricName<'time'>, ms: number): void {
  if (!isOff) metrics.addMetric(name, MetricUnit.Milliseconds, Math.max(0, ms));
}

/** Counts a metric of the account's own. */
export function countOf(accountId: string, name: MetricName<'count', 'account'>, value: number): void {
  if (isOff) return;
  const single = metrics.singleMetric();
  single.addDimension('account', accountId);
  single.addMetric(name, MetricUnit.Count, value);
}

/** Writes the counts and times, if any, as one line of the log. */
function write(): void {
  if (isOff) return;
  for (const [name, value] of counts) if (value > 0) metrics.addMetric(name, MetricUnit.Count, value);
  counts.clear();
  if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
}

/**
 * Makes a Lambda handler write its metrics when it ends, also with an error. Counts of a process that died are lost: metrics may
 * miss some, and the log of messages has all.
 */
export const withMetrics =
  <Given extends readonly unknown[], Result>(handler: (...given: Given) => Promise<Result>) =>
  async (...given: Given): Promise<Result> => {
    try {
      return await handler(...given);
    } finally {
      write();
    }
  };
