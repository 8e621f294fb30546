/** The stand-ins for AWS: all that the handlers call over the wire. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { maxReceives, queues, tables } from '../lambdas/resources.ts';
import { randomSecret, type DataDirectory } from './dataDirectory.ts';
import { startDynamodb, waitForTables } from './dynamodb.ts';
import { credentials, type Environment } from './environment.ts';
import { noJournal, openJournal } from './journal.ts';
import { objectsIn, objectsInMemory } from './objects.ts';
import type { QueueShape } from './queues.ts';
import { startS3 } from './s3.ts';
import { startScheduler, type Scheduler } from './scheduler.ts';
import { noSchedulerJournal, openSchedulerJournal } from './schedulerJournal.ts';
import { startSecrets } from './secrets.ts';
import { accountId, queueArn, startSqs, type Sqs } from './sqs.ts';
import { createMissing, endLeases } from './tables.ts';

const bucket = 'bodies';
const masterSecretId = 'master-secret';
const managementSecretId = 'management';
const managementUser = 'admin';
/** Where accounts of this deployment may be served: the regions of a deployment, and the one that this stage plays. */
const regionsOf = (region: string): readonly string[] => [...new Set([region, 'eu-central-1', 'us-east-1'])];
const scheduleGroup = 'svc';

const queueShapes: readonly QueueShape[] = Object.entries(queues).map(
  ([name, { visibility, redrivesTo }]) => ({
    name,
    visibilityTimeoutMs: visibility * 1000,
    ...(redrivesTo !== undefined && { redrive: { deadQueue: redrivesTo, maxReceives } }),
  }),
);

/** What to do to end the pieces that have started, in the order in which they did. */
export type Endings = (() => Promise<void> | void)[];

export interface StandInOptions {
  readonly region: string;
  /** Told of what goes wrong and is survived. */
  readonly report: (error: unknown) => void;
  /** Told of what the stage cannot go on without. */
  readonly onFatal: (error: Error) => void;
}

export interface StandIns {
  readonly dynamodbUrl: string;
  readonly sqs: Sqs;
  readonly scheduler: Scheduler;
  readonly s3Url: string;
  readonly secretsUrl: string;
  /** By their names; what is changed here is what is read from then on. */
  readonly secretValues: Map<string, string>;
  /** The credentials of the management API. */
  readonly management: { readonly username: string; readonly password: string };
  /** The database starts while the handlers load. */
  readonly tablesReady: Promise<void>;
}

/** @param data where everything is kept; in memory when absent */
export async function startStandIns(
  { region, report, onFatal }: StandInOptions,
  data: DataDirectory | undefined,
  endings: Endings,
): Promise<StandIns> {
  const failed = new AbortController();
  const dynamodb = await startDynamodb({
    file: data?.databaseFile,
    onExit: (error) => {
      failed.abort(error);
      onFatal(error);
    },
  });
  endings.push(dynamodb.stop);
  if (dynamodb.pid !== undefined) data?.holdFor(dynamodb.pid);
  const tablesReady = makeTables(dynamodb.url, region, failed.signal);
  // It is awaited later: until then a failure waits for its reader.
  tablesReady.catch(() => undefined);

  const now = (): number => Date.now();
  const journal = data === undefined ? noJournal : openJournal(data.journalFile);
  const objects = data === undefined ? objectsInMemory() : await objectsIn(data.bodiesFolder, now);
  const sqs = await startSqs({ queues: queueShapes, region, journal, now, report });
  endings.push(sqs.close);
  const scheduler = await startScheduler({
    ...{ sqs, region, now, report },
    groups: [scheduleGroup],
    journal: data === undefined ? noSchedulerJournal() : openSchedulerJournal(data.schedulerJournalFile),
  });
  endings.push(scheduler.close);
  const s3 = await startS3({ bucket, objects, now, report });
  endings.push(s3.close);
  const management = { username: managementUser, password: secretOf(data, 'management-password') };
  const secretValues = new Map([
    [masterSecretId, secretOf(data, masterSecretId)],
    [managementSecretId, JSON.stringify(management)],
  ]);
  const secrets = await startSecrets(secretValues, report);
  endings.push(secrets.close);
  return {
    dynamodbUrl: dynamodb.url,
    sqs,
    scheduler,
    s3Url: s3.url,
    secretsUrl: secrets.url,
    secretValues,
    management,
    tablesReady,
  };
}

async function makeTables(endpoint: string, region: string, signal: AbortSignal): Promise<void> {
  const client = new DynamoDBClient({ endpoint, region, credentials, maxAttempts: 1 });
  try {
    const existing = await waitForTables(client, endpoint, signal);
    await createMissing(client, tables, existing);
    if (existing.includes('usage')) await endLeases(client, 'usage');
  } finally {
    client.destroy();
  }
}

function secretOf(data: DataDirectory | undefined, name: string): string {
  return data?.secret(name) ?? randomSecret();
}

/** What the CDK app gives every handler, turned to the stand-ins. */
export function environmentOf(region: string, standIns: StandIns): Environment {
  const { dynamodbUrl, sqs, scheduler, s3Url, secretsUrl } = standIns;
  return {
    AWS_REGION: region,
    AWS_ENDPOINT_URL_DYNAMODB: dynamodbUrl,
    AWS_ENDPOINT_URL_SQS: sqs.url,
    AWS_ENDPOINT_URL_SCHEDULER: scheduler.url,
    AWS_ENDPOINT_URL_S3: s3Url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secretsUrl,
    ...Object.fromEntries(Object.entries(tables).map(([name, { variable }]) => [variable, name])),
    BODIES_BUCKET: bucket,
    SHORT_QUEUE_URL: sqs.queueUrl('short'),
    LONG_QUEUE_URL: sqs.queueUrl('long'),
    SHORT_QUEUE_ARN: queueArn(region, 'short'),
    LONG_QUEUE_ARN: queueArn(region, 'long'),
    FIRE_QUEUE_ARN: queueArn(region, 'fire'),
    DEAD_QUEUE_ARN: queueArn(region, 'dead'),
    SCHEDULER_DLQ_ARN: queueArn(region, 'undeliveredFires'),
    SCHEDULE_GROUP: scheduleGroup,
    SCHEDULER_ROLE_ARN: `arn:aws:iam::${accountId}:role/scheduler`,
    MASTER_SECRET_ID: masterSecretId,
    MANAGEMENT_SECRET_ID: managementSecretId,
    // One table and one queue are all regions' here.
    ACCOUNT_CHANGES_QUEUES: JSON.stringify(
      Object.fromEntries(regionsOf(region).map((name) => [name, sqs.queueUrl('accountChanges')])),
    ),
    HEADER_PREFIXES: 'Svc,Upstash',
  };
}
