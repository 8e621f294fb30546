/** Sums of AWS's metrics about the deployment's resources. */
import { GetMetricDataCommand, type MetricDataQuery } from '@aws-sdk/client-cloudwatch';
import type { StackResource } from '../../../operate/stackResources.ts';
import { sumQuery } from '../../metrics.ts';
import { until } from '../../wait.ts';
import type { After } from '../context.ts';

export interface Counted {
  readonly type: string;
  readonly namespace: string;
  readonly metric: string;
  readonly dimension: string;
}

/** A queue's id is its URL, but CloudWatch uses its name. */
const nameOf = ({ physicalId }: StackResource): string => physicalId.split('/').at(-1) ?? physicalId;

/** CloudWatch queries, one for each resource and metric. */
export const queriesOf = (
  resources: readonly StackResource[],
  counted: readonly Counted[],
): MetricDataQuery[] =>
  counted.flatMap(({ type, namespace, metric, dimension }, kind) =>
    resources
      .filter((resource) => resource.type === type)
      .map((resource, index) => {
        const Dimensions = [{ Name: dimension, Value: nameOf(resource) }];
        const of = { Namespace: namespace, MetricName: metric, Dimensions };
        return sumQuery(`k${kind}_${index}`, of, 60);
      }),
  );

/**
 * Sums each metric over all resources of its type.
 *
 * @param since Unix milliseconds
 * @param isEnough whether the sums are complete
 * @param waitMs how long CloudWatch may take, in addition to `--wait`
 */
export async function sumsOf(
  { clients: { cloudWatch }, timeout, resources }: Pick<After, 'clients' | 'timeout' | 'resources'>,
  counted: readonly Counted[],
  since: number,
  isEnough: (sums: readonly number[]) => boolean,
  waitMs: number,
): Promise<readonly number[]> {
  const MetricDataQueries = queriesOf(resources, counted);
  return until(
    async () => {
      const { MetricDataResults = [] } = await cloudWatch.send(
        new GetMetricDataCommand({ MetricDataQueries, StartTime: new Date(since), EndTime: new Date() }),
      );
      const sums = counted.map((_, kind) =>
        MetricDataResults.filter(({ Id = '' }) => Id.startsWith(`k${kind}_`))
          .flatMap(({ Values = [] }) => Values)
          .reduce((sum, value) => sum + value, 0),
      );
      return isEnough(sums) ? sums : undefined;
    },
    () => 'CloudWatch does not show yet what was used.',
    { ...timeout, everyMs: 15_000, waitMs: timeout.waitMs + waitMs },
  );
}
