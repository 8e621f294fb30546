import { steadyClock, watchClock } from './clocks.ts';
import { join } from 'node:path';
import * as dynamodbSdk from '@aws-sdk/client-dynamodb';
import * as sqsSdk from '@aws-sdk/client-sqs';
import { addToClients } from '../../lambdas/aws/additions.ts';
import {
  defaultHeaderPrefixes,
  maxReceives,
  queues,
  retentionSeconds,
  queueNames,
  visibilitySecondsOf,
  tables,
} from '../../lambdas/aws/resources.ts';
import type { AwsService } from '../../lambdas/aws/metricTable.ts';
import { masterSecretName } from '../backup/files.ts';
import { randomSecret, type DataDirectory } from './dataDirectory.ts';
import { accountId, queueArn } from '../aws/arns.ts';
import { handingOver, type HandedOver, type HandOvers } from '../aws/handOver.ts';
import { startDynamodb } from '../dynamodb/dynamodb.ts';
import type { Environment } from '../lambda/environment.ts';
import { objectsIn } from '../s3/objects.ts';
import type { QueueShape } from '../sqs/queues.ts';
import { startS3 } from '../s3/s3.ts';
import { startScheduler, type Scheduler } from '../scheduler/scheduler.ts';
import { startSecretsManager, tlsSecrets } from '../secretsManager/secretsManager.ts';
import { startSqs, type Sqs } from '../sqs/sqs.ts';
import manifest from '../../package.json' with { type: 'json' };
import { deleteExpired, type Expire } from '../dynamodb/expiry.ts';
import { endProcessLeases, forgetStarts } from '../dynamodb/processLeases.ts';
import { ownersIn } from '../sqs/storedMessages.ts';
import { Store } from '../store/store.ts';
import { wholeShare, type Share } from './share.ts';

const bucket = 'bodies';
const managementSecretId = 'management';
const managementUser = 'admin';
/** The regions that may serve an account: the deployment's, and the stage's own. */
const regionsOf = (region: string): readonly string[] => [...new Set([region, 'eu-central-1', 'us-east-1'])];
const scheduleGroup = 'svc';

const queueShapes: readonly QueueShape[] = queueNames.map((name) => {
  const { redrivesTo } = queues[name];
  return {
    name,
    visibilityTimeoutMs: visibilitySecondsOf(name) * 1000,
    retentionMs: retentionSeconds * 1000,
    ...(redrivesTo !== undefined && { redrive: { deadQueue: redrivesTo, maxReceives } }),
  };
});

export type Urls = Readonly<Record<'dynamodb' | 'sqs' | 'scheduler' | 's3' | 'secrets', string>>;

/**
 * Functions that stop the parts of a stage, in the order in which these started. The last one is called
 * first.
 */
export type Endings = (() => Promise<void> | void)[];

export interface StandInOptions {
  readonly region: string;
  readonly isPaused?: boolean | undefined;
  readonly announce: (sentence: string) => void;
  /** Called with errors after which the stage continues. */
  readonly report: (error: unknown) => void;
  /** The URL of another DynamoDB with the tables. Only for tests. */
  readonly dynamodbUrl?: string | undefined;
  /** The folder of accounts' certificates. Default: the one in the data directory. */
  readonly tlsFolder?: string | undefined;
  /** Puts proxies in front of the stand-ins, so that all calls go through them. Only for tests. */
  readonly openProxies?: (
    urls: Urls,
  ) => Promise<{ readonly urls: Urls; readonly close: () => Promise<void> }>;
}

export interface StandIns {
  readonly urls: Urls;
  /** The services whose calls are answered in this process. */
  readonly handOvers: HandOvers;
  readonly sqs: Sqs;
  readonly scheduler: Scheduler;
  /** The values of secrets by name. A change of the map changes the secret. */
  readonly secretValues: Map<string, string>;
  /** The secrets from which all others are derived, by file name. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly management: { readonly username: string; readonly password: string };
  readonly store: Store;
  readonly expire: Expire;
}

/** @param data the data directory; undefined to keep everything in memory */
export async function startStandIns(
  { region, isPaused = false, report, dynamodbUrl, tlsFolder, openProxies }: StandInOptions,
  data: DataDirectory | undefined,
  endings: Endings,
  share: Share = wholeShare,
): Promise<StandIns> {
  const store = data?.store ?? new Store(undefined);
  if (data === undefined) endings.push(() => store.close());
  const generated = {
    'management-password': secretOf(data, 'management-password'),
    [masterSecretName]: secretOf(data, masterSecretName),
  };
  await data?.begin();
  const management = { username: managementUser, password: generated['management-password'] };
  const secretValues = new Map([
    [masterSecretName, generated[masterSecretName]],
    [managementSecretId, JSON.stringify(management)],
  ]);
  const now = (): number => Date.now();
  const dynamodb = await startDynamodb(store, report);
  if (dynamodbUrl === undefined) endings.push(dynamodb.close);
  else await dynamodb.close();
  if (share.isFirst && !isPaused) {
    await endProcessLeases(dynamodb.rows);
    await forgetStarts(dynamodb.rows);
  }
  const objects = objectsIn(store, now);
  const { owner, adopts = ownersIn(store), tell } = share;
  const sqs = await startSqs({ queues: queueShapes, region, store, owner, now: steadyClock(now), report });
  endings.push(sqs.close);
  for (const one of adopts) sqs.queues.adopt(one);
  const groups = [scheduleGroup];
  const scheduler = await startScheduler({ sqs, region, store, now, report, groups, tell });
  endings.push(
    scheduler.close,
    watchClock(() => {
      scheduler.wake();
      sqs.queues.wake();
    }),
  );
  const s3 = await startS3({ bucket, objects, now, report });
  endings.push(s3.close);
  const secrets = await startSecretsManager(
    secretValues,
    report,
    tlsFolder ?? (data && join(data.folder, 'tls')),
  );
  endings.push(secrets.close);
  const expire: Expire = async (pause) => {
    const deleted = await deleteExpired({ rows: dynamodb.rows, now, pause });
    await objects.expire();
    return deleted;
  };
  const handOvers = new Map<AwsService, HandedOver>([
    ['Sqs', { handOver: sqs.handOver, sdk: () => sqsSdk }],
    // Loaded when a message with a long delay first needs it.
    ['Scheduler', { ...scheduler.handedOver, sdk: () => import('@aws-sdk/client-scheduler') }],
  ]);
  if (dynamodbUrl === undefined) {
    handOvers.set('Dynamodb', { handOver: dynamodb.handOver, sdk: () => dynamodbSdk });
  }
  const urls: Urls = {
    dynamodb: dynamodbUrl ?? dynamodb.url,
    sqs: sqs.url,
    scheduler: scheduler.url,
    s3: s3.url,
    secrets: secrets.url,
  };
  const proxies = await openProxies?.(urls);
  if (proxies !== undefined) endings.push(proxies.close);
  return {
    urls: proxies?.urls ?? urls,
    handOvers: proxies === undefined ? handOvers : new Map(),
    sqs,
    scheduler,
    secretValues,
    secrets: generated,
    management,
    store,
    expire,
  };
}

function secretOf(data: DataDirectory | undefined, name: string): string {
  return data?.secret(name) ?? randomSecret();
}

/** Lets all AWS clients that this process makes later pass their calls directly to stand-ins. */
export function handOverCalls({ handOvers }: StandIns): void {
  addToClients(handingOver(handOvers));
}

/** The environment variables that the CDK app sets for handlers, with the addresses of the stand-ins. */
export function environmentOf(
  region: string,
  { urls, sqs }: Pick<StandIns, 'urls'> & { readonly sqs: Pick<Sqs, 'queueUrl'> },
): Environment {
  return {
    AWS_REGION: region,
    AWS_ENDPOINT_URL_DYNAMODB: urls.dynamodb,
    AWS_ENDPOINT_URL_SQS: urls.sqs,
    AWS_ENDPOINT_URL_SCHEDULER: urls.scheduler,
    AWS_ENDPOINT_URL_S3: urls.s3,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: urls.secrets,
    ...Object.fromEntries(Object.entries(tables).map(([name, { variable }]) => [variable, name])),
    BODIES_BUCKET: bucket,
    SHORT_QUEUE_URL: sqs.queueUrl('short'),
    LONG_QUEUE_URL: sqs.queueUrl('long'),
    DEAD_QUEUE_URL: sqs.queueUrl('dead'),
    FIRE_QUEUE_URL: sqs.queueUrl('fire'),
    UNDELIVERED_FIRES_QUEUE_URL: sqs.queueUrl('undeliveredFires'),
    SLOW_QUEUE_URL: sqs.queueUrl('slow'),
    PARKED_QUEUE_URL: sqs.queueUrl('parked'),
    RELEASE: manifest.version,
    SHORT_QUEUE_ARN: queueArn(region, 'short'),
    LONG_QUEUE_ARN: queueArn(region, 'long'),
    FIRE_QUEUE_ARN: queueArn(region, 'fire'),
    DEAD_QUEUE_ARN: queueArn(region, 'dead'),
    SCHEDULER_DLQ_ARN: queueArn(region, 'undeliveredFires'),
    SCHEDULE_GROUP: scheduleGroup,
    SCHEDULER_ROLE_ARN: `arn:aws:iam::${accountId}:role/scheduler`,
    MASTER_SECRET_ID: masterSecretName,
    MANAGEMENT_SECRET_ID: managementSecretId,
    TLS_SECRETS: tlsSecrets,
    // All regions have the same queue here.
    ACCOUNT_CHANGES_QUEUES: JSON.stringify(
      Object.fromEntries(regionsOf(region).map((name) => [name, sqs.queueUrl('accountChanges')])),
    ),
    HEADER_PREFIXES: defaultHeaderPrefixes.join(','),
    KEPT_CONNECTIONS: '1024',
  };
}
