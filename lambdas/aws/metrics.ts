import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { MetricName } from './metricTable.ts';
import { metricsService } from './resources.ts';

/** Metrics are log lines that CloudWatch reads, so they cost no call. */
const metrics = new Metrics({ serviceName: metricsService });

/** Counts since the last line: a batch of ten messages writes one number for each metric. */
const counts = new Map<string, number>();

/** Whether metrics are off, as on one machine. */
const isOff = process.env['POWERTOOLS_METRICS_DISABLED'] === 'true';

export function count(name: MetricName<'count'>, value = 1): void {
  if (!isOff) counts.set(name, (counts.get(name) ?? 0) + value);
}

export function countLargest(name: MetricName<'largest'>, value: number): void {
  if (!isOff) counts.set(name, Math.max(counts.get(name) ?? 0, value));
}

/** Adds a time in ms. A negative one counts as 0, because clocks of processes differ. */
export function measure(name: MetricName<'time'>, ms: number): void {
  if (!isOff) metrics.addMetric(name, MetricUnit.Milliseconds, Math.max(0, ms));
}

export function countOf(accountId: string, name: MetricName<'count', 'account'>, value: number): void {
  if (isOff) return;
  const single = metrics.singleMetric();
  single.addDimension('account', accountId);
  single.addMetric(name, MetricUnit.Count, value);
}

function write(): void {
  if (isOff) return;
  for (const [name, value] of counts) if (value > 0) metrics.addMetric(name, MetricUnit.Count, value);
  counts.clear();
  if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
}

/**
 * Makes a Lambda handler that writes its metrics when it ends, even with an error. If the process dies, its
 * counts are lost.
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
