/** Starts the stand-ins for AWS that the handlers call. */
import * as dynamodbSdk from '@aws-sdk/client-dynamodb';
import * as sqsSdk from '@aws-sdk/client-sqs';
import { clientOptions } from '../../lambdas/aws/clientOptions.ts';
import { addToClients } from '../../lambdas/aws/additions.ts';
import {
  defaultHeaderPrefixes,
  maxReceives,
  queues,
  retentionSeconds,
  tables,
} from '../../lambdas/aws/resources.ts';
import type { AwsService } from '../../lambdas/aws/metricTable.ts';
import type { Still } from '../backup/snapshot.ts';
import { masterSecretName, randomSecret, type DataDirectory } from './dataDirectory.ts';
import { accountId, queueArn } from '../aws/arns.ts';
import { openFaultProxy, type FaultPlan, type Service } from '../aws/faultProxy.ts';
import { handingOver, type HandedOver, type HandOvers } from '../aws/handOver.ts';
import type { SendForClient } from '../dynamodb/connection.ts';
import { handOverTo, startDynamodb, waitForTables, type Dynamodb } from '../dynamodb/dynamodb.ts';
import { credentials, type Environment } from '../lambda/environment.ts';
import { objectsIn, objectsInMemory } from '../s3/objects.ts';
import { noQueueJournal, openQueueJournal } from '../sqs/queueJournal.ts';
import type { QueueShape } from '../sqs/queues.ts';
import { startS3 } from '../s3/s3.ts';
import { startScheduler, type Scheduler } from '../scheduler/scheduler.ts';
import { noSchedulerJournal, openSchedulerJournal } from '../scheduler/schedulerJournal.ts';
import { startSecretsManager } from '../secretsManager/secretsManager.ts';
import { startSqs, type Sqs } from '../sqs/sqs.ts';
import { startExpiry, type Expiry } from '../dynamodb/expiry.ts';
import { createMissing, endProcessLeases } from '../dynamodb/tables.ts';

const bucket = 'bodies';
const managementSecretId = 'management';
const managementUser = 'admin';
/** The regions that may serve an account: those of a deployment, and the stage's own. */
const regionsOf = (region: string): readonly string[] => [...new Set([region, 'eu-central-1', 'us-east-1'])];
const scheduleGroup = 'svc';

const queueShapes: readonly QueueShape[] = Object.entries(queues).map(
  ([name, { visibilitySeconds, redrivesTo }]) => ({
    name,
    visibilityTimeoutMs: visibilitySeconds * 1000,
    retentionMs: retentionSeconds * 1000,
    ...(redrivesTo !== undefined && { redrive: { deadQueue: redrivesTo, maxReceives } }),
  }),
);

/** The functions that end the parts of a stage, in the order in which the parts were started. Call the last one first. */
export type Endings = (() => Promise<void> | void)[];

export interface StandInOptions {
  readonly region: string;
  /** Called with the reason when the start takes long. */
  readonly announce: (sentence: string) => void;
  /** Called with errors that the stage survives. */
  readonly report: (error: unknown) => void;
  /** Called with an error that ends the stage. */
  readonly onFatal: (error: Error) => void;
  /** Called with what the database says of a call that it failed to make. */
  readonly onDatabaseFailure?: (text: string) => void;
  /** Faults of the functions' calls, for tests; absent for none. */
  readonly faults?: FaultPlan;
}

export interface StandIns {
  /** The addresses that the functions call. */
  readonly urls: Readonly<Record<Service, string>>;
  /** The services whose calls this process's clients hand over. */
  readonly handOvers: HandOvers;
  readonly sqs: Sqs;
  readonly scheduler: Scheduler;
  /** Values by the secrets' names. A change of the map changes the secret. */
  readonly secretValues: Map<string, string>;
  /** The secrets that all others are made of, by the names of their files. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The credentials of the management API. */
  readonly management: { readonly username: string; readonly password: string };
  /** Resolves when the database has all tables; meanwhile the handlers load. */
  readonly tablesReady: Promise<void>;
  /** Deletes what is past its time; undefined with `DYNAMODB_ENDPOINT`. */
  readonly expiry: Expiry | undefined;
  /** Keeps the data directory still for a backup; undefined where there is none, or the database is not in it. */
  readonly still: Still | undefined;
}

/** @param data the data directory; without one everything is in memory */
export async function startStandIns(
  { region, announce, report, onFatal, onDatabaseFailure, faults }: StandInOptions,
  data: DataDirectory | undefined,
  endings: Endings,
): Promise<StandIns> {
  // They are made before the database, whose file says that the directory has been used.
  const generated = {
    'management-password': secretOf(data, 'management-password'),
    [masterSecretName]: secretOf(data, masterSecretName),
  };
  const management = { username: managementUser, password: generated['management-password'] };
  const secretValues = new Map([
    [masterSecretName, generated[masterSecretName]],
    [managementSecretId, JSON.stringify(management)],
  ]);
  const failed = new AbortController();
  const dynamodb = await startDynamodb({
    file: data?.databaseFile,
    announce,
    ...(onDatabaseFailure !== undefined && { onFailure: onDatabaseFailure }),
    onExit: (error) => {
      failed.abort(error);
      onFatal(error);
    },
  });
  endings.push(dynamodb.stop);
  if (dynamodb.pid !== undefined) data?.holdFor(dynamodb.pid);
  const tablesReady = makeTables(dynamodb.url, region, failed.signal);
  // The promise is awaited later; a failure before that must not be an unhandled rejection.
  tablesReady.catch(() => undefined);

  const now = (): number => Date.now();
  const journal = data === undefined ? noQueueJournal : openQueueJournal(data.journalFile, data.lacksEntries);
  const kept = data && (await objectsIn(data.bodiesFolder, now));
  const objects = kept ?? objectsInMemory();
  const sqs = await startSqs({ queues: queueShapes, region, journal, now, report });
  endings.push(sqs.close);
  const schedulerJournal =
    data === undefined
      ? noSchedulerJournal()
      : openSchedulerJournal(data.schedulerJournalFile, data.lacksEntries);
  const scheduler = await startScheduler({
    ...{ sqs, region, now, report },
    groups: [scheduleGroup],
    journal: schedulerJournal,
  });
  endings.push(scheduler.close);
  const s3 = await startS3({ bucket, objects, now, report });
  endings.push(s3.close);
  const secrets = await startSecretsManager(secretValues, report);
  endings.push(secrets.close);
  const services: Readonly<Record<Service, Called>> = { dynamodb, sqs, scheduler, s3, secrets };
  const expiry = startExpiryOf(dynamodb, kept?.expire, now, report);
  if (expiry !== undefined) endings.push(expiry.stop);
  return {
    urls: await urlsOf(services, faults, report, endings),
    // With faults all calls go through the fault proxies.
    handOvers: faults === undefined ? handOversOf(dynamodb, sqs, scheduler) : new Map(),
    sqs,
    scheduler,
    secretValues,
    secrets: generated,
    management,
    tablesReady,
    expiry,
    still: kept && dynamodb.hold && { hold: dynamodb.hold, holdDeletes: kept.holdDeletes },
  };
}

function startExpiryOf(
  { call }: Dynamodb,
  deleteOthers: () => Promise<void> = () => Promise.resolve(),
  now: () => number,
  report: StandInOptions['report'],
): Expiry | undefined {
  return call && startExpiry({ call, now, deleteOthers, report });
}

/** Calls of the developer's own DynamoDB go over HTTP. */
function handOversOf({ call }: Dynamodb, { handOver }: Sqs, { handedOver }: Scheduler): HandOvers {
  const services = new Map<AwsService, HandedOver>([
    ['Sqs', { handOver, sdk: () => sqsSdk }],
    // As the service does, it loads the module when the first message with a long delay comes.
    ['Scheduler', { ...handedOver, sdk: () => import('@aws-sdk/client-scheduler') }],
  ]);
  if (call !== undefined) services.set('Dynamodb', { handOver: handOverTo(call), sdk: () => dynamodbSdk });
  return services;
}

/** A stand-in from the view of its clients. */
interface Called {
  readonly url: string;
  readonly call?: SendForClient;
}

/** The addresses that the functions call: those of fault proxies with a plan of faults, otherwise the stand-ins' own. */
async function urlsOf(
  services: Readonly<Record<Service, Called>>,
  faults: FaultPlan | undefined,
  report: StandInOptions['report'],
  endings: Endings,
): Promise<StandIns['urls']> {
  const urlOf = async (service: Service): Promise<string> => {
    const { url, call } = services[service];
    if (faults === undefined) return url;
    const proxy = await openFaultProxy({ service, url, call, plan: faults, report });
    endings.push(proxy.close);
    return proxy.url;
  };
  return {
    dynamodb: await urlOf('dynamodb'),
    sqs: await urlOf('sqs'),
    scheduler: await urlOf('scheduler'),
    s3: await urlOf('s3'),
    secrets: await urlOf('secrets'),
  };
}

async function makeTables(endpoint: string, region: string, signal: AbortSignal): Promise<void> {
  const client = new dynamodbSdk.DynamoDBClient({
    ...clientOptions('quick'),
    endpoint,
    region,
    credentials,
    maxAttempts: 1,
  });
  try {
    const existing = await waitForTables(client, endpoint, signal);
    await createMissing(client, tables, existing);
    if (existing.includes('lanes')) await endProcessLeases(client, 'lanes');
  } finally {
    client.destroy();
  }
}

function secretOf(data: DataDirectory | undefined, name: string): string {
  return data?.secret(name) ?? randomSecret();
}

/** Lets the clients that this process makes from now on hand over their calls where they can. */
export function handOverCalls({ handOvers }: StandIns): void {
  addToClients(handingOver(handOvers));
}

/** The environment variables that the CDK app gives every handler, with the stand-ins' addresses. */
export function environmentOf(region: string, standIns: StandIns): Environment {
  const { urls, sqs } = standIns;
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
    SHORT_QUEUE_ARN: queueArn(region, 'short'),
    LONG_QUEUE_ARN: queueArn(region, 'long'),
    FIRE_QUEUE_ARN: queueArn(region, 'fire'),
    DEAD_QUEUE_ARN: queueArn(region, 'dead'),
    SCHEDULER_DLQ_ARN: queueArn(region, 'undeliveredFires'),
    SCHEDULE_GROUP: scheduleGroup,
    SCHEDULER_ROLE_ARN: `arn:aws:iam::${accountId}:role/scheduler`,
    MASTER_SECRET_ID: masterSecretName,
    MANAGEMENT_SECRET_ID: managementSecretId,
    // The stage has one table and one queue for all regions.
    ACCOUNT_CHANGES_QUEUES: JSON.stringify(
      Object.fromEntries(regionsOf(region).map((name) => [name, sqs.queueUrl('accountChanges')])),
    ),
    HEADER_PREFIXES: defaultHeaderPrefixes.join(','),
  };
}
