import type { Stack } from 'aws-cdk-lib';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import manifest from '../../package.json' with { type: 'json' };
import { longestTimeoutSeconds } from '../../lambdas/aws/resources.ts';
import type { Environment } from '../../lambdas/aws/settings.ts';
import { namesOf, queueUrls } from '../names.ts';
import type { Queues } from '../state/queues.ts';
import { valuesOf } from '../regional.ts';
import type { ScheduleGroup } from '../state/scheduleGroup.ts';
import type { Settings } from '../settings.ts';
import type { Tables } from '../state/tables.ts';

/**
 * The variables of all functions in a region. Lambda sets the region and the memory, and some functions have
 * more variables.
 */
export type FunctionEnvironment = Readonly<
  Omit<
    Environment,
    | 'AWS_REGION'
    | 'AWS_LAMBDA_FUNCTION_MEMORY_SIZE'
    | 'LEARN_HOSTS'
    | 'CONSOLE_APIS'
    | 'API_URL'
    | 'TRACING'
    | 'KEPT_CONNECTIONS'
    | 'LONGEST_TIMEOUT'
    | 'OUTBOUND_PROXIES'
    | 'TLS_SECRETS'
  > &
    Partial<Pick<Environment, 'LONGEST_TIMEOUT' | 'OUTBOUND_PROXIES'>>
>;

export const chosenHosts = ({ domains, ownHosts }: Settings): readonly string[] => [
  ...valuesOf(domains),
  ...ownHosts,
];

interface EnvironmentProps {
  readonly settings: Settings;
  readonly tables: Tables;
  readonly bodies: IBucket;
  readonly queues: Queues;
  readonly scheduleGroup: ScheduleGroup;
  readonly apiHost: string;
}

/** Every function gets the same variables: its role decides what it may use. */
export function environmentOf(stack: Stack, props: EnvironmentProps): FunctionEnvironment {
  const { settings, tables, queues, scheduleGroup } = props;
  const names = namesOf(settings);
  return {
    MESSAGES_TABLE: tables.messages.tableName,
    DLQ_TABLE: tables.dlq.tableName,
    GROUPS_TABLE: tables.groups.tableName,
    LANES_TABLE: tables.lanes.tableName,
    WORKFLOWS_TABLE: tables.workflows.tableName,
    SCHEDULES_TABLE: tables.schedules.tableName,
    DEDUPLICATION_TABLE: tables.deduplication.tableName,
    ACCOUNTS_TABLE: tables.accounts.tableName,
    USAGE_TABLE: tables.usage.tableName,
    BODIES_BUCKET: props.bodies.bucketName,
    SHORT_QUEUE_URL: queues.short.queueUrl,
    LONG_QUEUE_URL: queues.long.queueUrl,
    DEAD_QUEUE_URL: queues.dead.queueUrl,
    FIRE_QUEUE_URL: queues.fire.queueUrl,
    UNDELIVERED_FIRES_QUEUE_URL: queues.undeliveredFires.queueUrl,
    SLOW_QUEUE_URL: queues.slow.queueUrl,
    PARKED_QUEUE_URL: queues.parked.queueUrl,
    RELEASE: manifest.version,
    SHORT_QUEUE_ARN: queues.short.queueArn,
    LONG_QUEUE_ARN: queues.long.queueArn,
    DEAD_QUEUE_ARN: queues.dead.queueArn,
    FIRE_QUEUE_ARN: queues.fire.queueArn,
    SCHEDULER_DLQ_ARN: queues.undeliveredFires.queueArn,
    SCHEDULER_ROLE_ARN: scheduleGroup.role.roleArn,
    SCHEDULE_GROUP: scheduleGroup.groupName,
    MASTER_SECRET_ID: names.masterSecret,
    MANAGEMENT_SECRET_ID: names.managementSecret,
    ACCOUNT_CHANGES_QUEUES: stack.toJsonString(queueUrls(stack, names.accountChangesQueue, settings.regions)),
    PRICE_PER_MESSAGE: settings.pricePerMessage.toString(),
    HEADER_PREFIXES: settings.headerPrefixes.join(','),
    ALLOWED_DESTINATIONS: settings.allowedDestinations.join(','),
    DESTINATIONS: settings.destinations.join(','),
    LAMBDA_DESTINATIONS: settings.lambdaDestinations.join(','),
    // Deliveries to the service's own APIs would never end. Functions learn hosts of other APIs when these
    // are called.
    OWN_HOSTS: [props.apiHost, ...chosenHosts(settings)].join(','),
    ...(settings.outboundProxy !== undefined && {
      OUTBOUND_PROXIES: stack.toJsonString({
        http: settings.outboundProxy,
        https: settings.outboundProxy,
        except: settings.outboundProxyExcept,
      }),
    }),
    ...(settings.longDelivery === 'instances' && {
      LONGEST_TIMEOUT: longestTimeoutSeconds.instances.toString(),
    }),
  };
}
