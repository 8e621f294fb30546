import { GraphWidget, type IWidget, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { metrics } from '../../lambdas/aws/metricTable.ts';

/** The name of a metric of the service: see docs/metrics.md. */
export type SvcMetric = keyof typeof metrics;

const graphs: readonly (readonly [title: string, names: readonly SvcMetric[]])[] = [
  ['Messages', ['Accepted', 'Delivered', 'Cancelled']],
  ['Attempts that failed', ['Retried', 'Failed', 'DeadLettered']],
  ['Late, ms', ['FirstAttemptDelay', 'Lateness']],
];

export const widgetsOf = (name: string, metricOf: (name: SvcMetric) => Metric): readonly IWidget[] =>
  graphs.map(
    ([title, names]) =>
      new GraphWidget({ title: `${name}: ${title}`, left: names.map(metricOf), width: 8, height: 6 }),
  );
