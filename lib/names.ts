/**
 * Names of resources that are known beyond their own stack, and the ARNs and URLs that follow from them. The template of a region
 * cannot refer to that of another, so these names are chosen here and not by CloudFormation. The price: CloudFormation cannot
 * replace a resource with such a name, and a resource that a stack left behind blocks its name.
 */
import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Settings } from './settings.ts';

export const namesOf = ({ name }: Pick<Settings, 'name'>) => ({
  /** One table, with a replica in each region. */
  accountsTable: `${name}-accounts`,
  /** A table in each region, with its own rows. The management API reads them all. */
  usageTable: `${name}-usage`,
  /** A queue in each region, which other regions and the management API send to. */
  accountChangesQueue: `${name}-account-changes`,
  /** Made in the first region, with replicas in the others. */
  masterSecret: `${name}/master`,
  /** The certificates of accounts. The operator makes them, in each region where they are used. */
  tlsSecrets: `${name}/tls/*`,
  /** In each region: alarms are sent to it. */
  alarmTopic: `${name}-alarms`,
  /** Dashboards are the AWS account's, with one name in all regions. */
  dashboard: (region: string) => `${name}-${region}`,
  alarm: (of: string) => `${name}-${of}`,
  /** The name of the management API, by which CloudWatch knows it. */
  managementApi: `${name}-management`,
  /** In the first region, where the management API is. */
  managementSecret: `${name}/management`,
});

/** The group of the schedules in EventBridge Scheduler. */
export const scheduleGroupOf = ({ name, scheduleGroup }: Pick<Settings, 'name' | 'scheduleGroup'>): string =>
  scheduleGroup ?? name;

/**
 * The values that may not change after the first deployment, by their settings. The state stack of a region exports these values and its service
 * stack imports them, so CloudFormation refuses a change: "After another stack imports an output value, you can't delete the stack
 * that is exporting the output value or modify the exported output value" (CloudFormation User Guide, "Get exported outputs").
 */
export const fixedOf = (settings: Settings): Readonly<Record<string, string>> => ({
  /** Another first region would make a second table of accounts, and another master secret. */
  regions: settings.regions[0] ?? '',
  /** Data may get protection, and not lose it. */
  ...(settings.retain && { retain: 'true' }),
  /** A group that is replaced goes with all its schedules. */
  scheduleGroup: scheduleGroupOf(settings),
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

/** The ARNs of all secrets with certificates of accounts. */
export const tlsSecretArns = (scope: Construct, settings: Pick<Settings, 'name'>): string =>
  secretsArn(scope, namesOf(settings).tlsSecrets);
