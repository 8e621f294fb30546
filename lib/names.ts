/**
 * Names of resources that other stacks refer to. They are fixed, because a region's template cannot refer to
 * another region's resources. So CloudFormation cannot replace such a resource, and if one remains when its
 * stack is deleted, its name is taken.
 */
import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Settings } from './settings.ts';

export const namesOf = ({ name }: Pick<Settings, 'name'>) => ({
  /** One table, with a replica in each region. */
  accountsTable: `${name}-accounts`,
  /** A separate table in each region, all read by the management API. */
  usageTable: `${name}-usage`,
  /** A queue in each region, to which other regions and the management API send. */
  accountChangesQueue: `${name}-account-changes`,
  /** Made in the first region, with replicas in the others. */
  masterSecret: `${name}/master`,
  /** The operator makes them in each region that uses them. */
  tlsSecrets: `${name}/tls/*`,
  alarmTopic: `${name}-alarms`,
  /** Dashboards belong to the AWS account, so their names contain the region. */
  dashboard: (region: string) => `${name}-${region}`,
  alarm: (of: string) => `${name}-${of}`,
  /** In CloudWatch. */
  managementApi: `${name}-management`,
  /** In the first region. */
  managementSecret: `${name}/management`,
  /** The ARN of the secret of an app's account, in the first region. */
  secretParameter: (accountId: string) => `/${name}/accounts/${accountId}/secret`,
});

export const scheduleGroupOf = ({ name, scheduleGroup }: Pick<Settings, 'name' | 'scheduleGroup'>): string =>
  scheduleGroup ?? name;

/**
 * Values that may not change after the first deployment, by setting. A region's state stack exports them and
 * its service stack imports them. CloudFormation does not change exports in use: "you can't delete the stack
 * that is exporting the output value or modify the exported output value" (CloudFormation User Guide, "Get
 * exported outputs").
 */
export const fixedOf = (settings: Settings): Readonly<Record<string, string>> => ({
  /** Another first region would make a second table of accounts, and another master secret. */
  regions: settings.regions[0] ?? '',
  /** Protection of data may be added, but not removed. */
  ...(settings.retain && { retain: 'true' }),
  /** The old group would be deleted with all its schedules. */
  scheduleGroup: scheduleGroupOf(settings),
});

const regionOf = (scope: Construct): string => Stack.of(scope).region;

export const tableArn = (scope: Construct, tableName: string, region = regionOf(scope)): string =>
  Stack.of(scope).formatArn({ service: 'dynamodb', region, resource: 'table', resourceName: tableName });

export const queueArn = (scope: Construct, queueName: string, region = regionOf(scope)): string =>
  Stack.of(scope).formatArn({ service: 'sqs', region, resource: queueName });

/** By region. */
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

const secretsArn = (scope: Construct, resourceName: string): string =>
  Stack.of(scope).formatArn({
    service: 'secretsmanager',
    resource: 'secret',
    resourceName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });

/** Secrets Manager adds a hyphen and six characters to a secret's name. */
export const secretArn = (scope: Construct, secretName: string): string =>
  secretsArn(scope, `${secretName}-??????`);

export const tlsSecretArns = (scope: Construct, settings: Pick<Settings, 'name'>): string =>
  secretsArn(scope, namesOf(settings).tlsSecrets);
