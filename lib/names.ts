/**
 * What is known by name beyond its own stack. No region's template can refer to another's, so these names are settled here,
 * and not left to CloudFormation; ARNs and URLs are put together from them. The price is that CloudFormation cannot replace
 * what has such a name, and that what a stack left behind keeps its name taken.
 */
import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Settings } from './settings.ts';

export const namesOf = ({ name }: Pick<Settings, 'name'>) => ({
  /** One table with a replica in each region. */
  accountsTable: `${name}-accounts`,
  /** A table in each region, each with its own rows: the management API reads them all. */
  usageTable: `${name}-usage`,
  /** A queue in each region: the management API tells each of changes to its accounts. */
  accountChangesQueue: `${name}-account-changes`,
  /** Made in the first region, with replicas in the others. */
  masterSecret: `${name}/master`,
  /** In the first region, where the management API is. */
  managementSecret: `${name}/management`,
});

const regionOf = (scope: Construct): string => Stack.of(scope).region;

export const tableArn = (scope: Construct, tableName: string, region = regionOf(scope)): string =>
  Stack.of(scope).formatArn({ service: 'dynamodb', region, resource: 'table', resourceName: tableName });

export const queueArn = (scope: Construct, queueName: string, region = regionOf(scope)): string =>
  Stack.of(scope).formatArn({ service: 'sqs', region, resource: queueName });

/** The URLs of the queues that have one name in every region, by region. */
export function queueUrls(
  scope: Construct,
  queueName: string,
  regions: readonly string[],
): Record<string, string> {
  const { account, urlSuffix } = Stack.of(scope);
  return Object.fromEntries(
    regions.map((region) => [region, `https://sqs.${region}.${urlSuffix}/${account}/${queueName}`]),
  );
}

export const secretArn = (scope: Construct, secretName: string): string =>
  Stack.of(scope).formatArn({
    service: 'secretsmanager',
    resource: 'secret',
    // Secrets Manager puts six characters of its own behind the name.
    resourceName: `${secretName}-??????`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
