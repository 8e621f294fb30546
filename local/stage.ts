/** The local stage: the real handlers, with stand-ins for AWS around them, in one process. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod/mini';
import { routes, type ApiFunction } from '../lambdas/http/routes.ts';
import { maxReceives, tables } from '../lambdas/resources.ts';
import { openDataDirectory, randomSecret, type DataDirectory } from './dataDirectory.ts';
import { startDynamodb, waitForTables } from './dynamodb.ts';
import { credentials, isolate, setVariables, type Environment } from './environment.ts';
import { startEventSource, type EventSource } from './eventSource.ts';
import { startGateway } from './gateway.ts';
import { loopback } from './http.ts';
import { noJournal, openJournal } from './journal.ts';
import { loadFunction, type LambdaFunction } from './lambda.ts';
import { objectsIn, objectsInMemory } from './objects.ts';
import type { Options } from './options.ts';
import type { QueueShape } from './queues.ts';
import { startS3 } from './s3.ts';
import { startSecrets } from './secrets.ts';
import { queueArn, startSqs, type Sqs } from './sqs.ts';
import { createMissing } from './tables.ts';

export interface Stage {
  /** What a client needs, by variable: addresses and credentials. */
  readonly variables: Readonly<Record<string, string>>;
  /** Takes nothing new, finishes what is in flight within 10 s, and ends. */
  readonly stop: () => Promise<void>;
}

export interface StageOptions extends Options {
  /** Told of what goes wrong and is survived. */
  readonly report: (error: unknown) => void;
  /** Told of what the stage cannot go on without. */
  readonly onFatal: (error: Error) => void;
}

const drainMs = 10_000;
const apiTimeoutMs = 29_000;
const bucket = 'bodies';
const masterSecretId = 'master-secret';

/** The queues, each with the function it feeds; visibility is a little over that function's timeout. */
const workers = [
  { queue: 'short', function: 'deliver', timeoutMs: 60_000, deadQueue: 'dead' },
  { queue: 'long', function: 'deliver', timeoutMs: 900_000, deadQueue: 'dead' },
  { queue: 'dead', function: 'abandon', timeoutMs: 60_000, deadQueue: undefined },
] as const;

const queues: readonly QueueShape[] = workers.map(({ queue, timeoutMs, deadQueue }) => ({
  name: queue,
  visibilityTimeoutMs: timeoutMs + 10_000,
  ...(deadQueue !== undefined && { redrive: { deadQueue, maxReceives } }),
}));

/** What to do to end the pieces that have started, in the order in which they did. */
type Endings = (() => Promise<void> | void)[];

/** @throws StageError when something is in the way that the person at the keyboard can remove */
export async function startStage(options: StageOptions): Promise<Stage> {
  isolate();
  const endings: Endings = [];
  const stop = async (): Promise<void> => {
    for (let end = endings.pop(); end !== undefined; end = endings.pop()) await end();
  };
  try {
    return { variables: await start(options, endings), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(options: StageOptions, endings: Endings): Promise<Record<string, string>> {
  const { report, region } = options;
  const functions = new Map<ApiFunction, LambdaFunction>();
  const loading = pending();
  const gateway = await startGateway({
    port: options.port,
    routes,
    functions,
    ready: loading.promise,
    report,
  });
  endings.push(() => gateway.stop(AbortSignal.abort()));

  const data =
    options.dataDirectory === undefined ? undefined : await openDataDirectory(options.dataDirectory);
  if (data !== undefined) endings.push(data.release);
  const standIns = await startStandIns(options, data, endings);
  const ownHosts = [loopback, 'localhost', '[::1]'].map((host) => `${host}:${gateway.port}`);
  setVariables(environmentOf(options, standIns, ownHosts));

  for (const name of new Set(routes.map((route) => route.function))) {
    functions.set(name, await loadFunction(name, { region, timeoutMs: apiTimeoutMs }));
  }
  await standIns.tablesReady;
  const account = await createAccount(region);
  const sources = await feed(options, standIns.sqs);
  endings.push(async () => {
    const signal = AbortSignal.timeout(drainMs);
    await Promise.all([gateway.stop(signal), ...sources.map((source) => source.stop(signal))]);
  });
  loading.resolve();
  await checkHealth(gateway.url);

  const variables = {
    SVC_URL: gateway.url,
    SVC_TOKEN: account.token,
    SVC_READ_ONLY_TOKEN: account.read_only_token,
    SVC_CURRENT_SIGNING_KEY: account.signing_keys.current,
    SVC_NEXT_SIGNING_KEY: account.signing_keys.next,
    SVC_MANAGEMENT_URL: gateway.url,
    SVC_MANAGEMENT_USER: 'admin',
    SVC_MANAGEMENT_PASSWORD: secretOf(data, 'management-password'),
  };
  data?.write('env', toLines(variables));
  return variables;
}

interface StandIns {
  readonly dynamodbUrl: string;
  readonly sqs: Sqs;
  readonly s3Url: string;
  readonly secretsUrl: string;
  /** The database starts while the handlers load. */
  readonly tablesReady: Promise<void>;
}

async function startStandIns(
  { region, report, onFatal }: StageOptions,
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

  const journal = data === undefined ? noJournal : openJournal(data.journalFile);
  const objects = data === undefined ? objectsInMemory() : await objectsIn(data.bodiesFolder, Date.now);
  const sqs = await startSqs({ queues, region, journal, now: Date.now, report });
  endings.push(sqs.close);
  const s3 = await startS3({ bucket, objects, now: Date.now, report });
  endings.push(s3.close);
  const secrets = await startSecrets(new Map([[masterSecretId, secretOf(data, masterSecretId)]]), report);
  endings.push(secrets.close);
  return { dynamodbUrl: dynamodb.url, sqs, s3Url: s3.url, secretsUrl: secrets.url, tablesReady };
}

async function makeTables(endpoint: string, region: string, signal: AbortSignal): Promise<void> {
  const client = new DynamoDBClient({ endpoint, region, credentials, maxAttempts: 1 });
  try {
    await createMissing(client, tables, await waitForTables(client, endpoint, signal));
  } finally {
    client.destroy();
  }
}

function secretOf(data: DataDirectory | undefined, name: string): string {
  return data?.secret(name) ?? randomSecret();
}

function environmentOf(options: StageOptions, standIns: StandIns, ownHosts: readonly string[]): Environment {
  const { dynamodbUrl, sqs, s3Url, secretsUrl } = standIns;
  return {
    AWS_REGION: options.region,
    AWS_ENDPOINT_URL_DYNAMODB: dynamodbUrl,
    AWS_ENDPOINT_URL_SQS: sqs.url,
    AWS_ENDPOINT_URL_S3: s3Url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secretsUrl,
    ...Object.fromEntries(Object.entries(tables).map(([name, { variable }]) => [variable, name])),
    BODIES_BUCKET: bucket,
    SHORT_QUEUE_URL: sqs.queueUrl('short'),
    LONG_QUEUE_URL: sqs.queueUrl('long'),
    MASTER_SECRET_ID: masterSecretId,
    HEADER_PREFIXES: 'Svc,Upstash',
    ALLOWED_DESTINATIONS: options.allowedDestinations.join(','),
    OWN_HOSTS: ownHosts.join(','),
  };
}

const accountRecord = z.object({
  token: z.string(),
  read_only_token: z.string(),
  signing_keys: z.object({ current: z.string(), next: z.string() }),
});

/** The account that a developer works with; asking again finds it as it is. */
async function createAccount(region: string): Promise<z.infer<typeof accountRecord>> {
  const create = await loadFunction('createAccount', { region, timeoutMs: apiTimeoutMs });
  return accountRecord.parse(await create.invoke({ id: 'local', type: 'paid' }));
}

/** Connects each queue with its function. */
async function feed({ region, report }: StageOptions, sqs: Sqs): Promise<EventSource[]> {
  const client = new SQSClient({ endpoint: sqs.url, region, credentials });
  return Promise.all(
    workers.map(async ({ queue, function: name, timeoutMs }) =>
      startEventSource({
        client,
        queueUrl: sqs.queueUrl(queue),
        queueArn: queueArn(region, queue),
        region,
        function: await loadFunction(name, { region, timeoutMs }),
        report,
      }),
    ),
  );
}

async function checkHealth(url: string): Promise<void> {
  const response = await fetch(`${url}/v2/health`);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`The stage is not healthy: ${response.status} ${text}`);
}

/** One `NAME=value` line each, as a shell reads them. */
export function toLines(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

function pending(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((resolved) => {
    resolve = resolved;
  });
  return { promise, resolve };
}
