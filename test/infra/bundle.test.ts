import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type * as bucketModule from '../../lambdas/message/store/bucket.ts';
import type * as sendingModule from '../../lambdas/delivery/client/sending.ts';
import { prepareClient } from '../../lambdas/aws/functionClient.ts';
import type * as schedulerModule from '../../lambdas/aws/scheduler.ts';
import { bundle, handlersDirectory } from '../../lib/bundle.ts';
import { objectsIn } from '../../local/s3/objects.ts';
import { startS3 } from '../../local/s3/s3.ts';
import { startScheduler } from '../../local/scheduler/scheduler.ts';
import { startSqs } from '../../local/sqs/sqs.ts';
import { Store } from '../../local/store/store.ts';
import { coldStart } from '../support/coldStart.ts';
import { startAwsService } from '../support/awsServices.ts';
import { startFunctions } from '../support/functions.ts';
import { keptBundle } from './keptTemplates.ts';

const handlers = readdirSync(handlersDirectory).map((name) => name.replace(/\.ts$/, ''));
const folders = new Map(handlers.map((handler) => [handler, keptBundle(handler)]));
const partsOf = (folder: string) => readdirSync(folder).filter((file) => file.endsWith('.mjs'));

/** A function's environment. */
const environment = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'none',
  AWS_SECRET_ACCESS_KEY: 'none',
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  MESSAGES_TABLE: 'messages',
  DLQ_TABLE: 'dlq',
  ACCOUNTS_TABLE: 'accounts',
  GROUPS_TABLE: 'groups',
  LANES_TABLE: 'lanes',
  WORKFLOWS_TABLE: 'workflows',
  DEDUPLICATION_TABLE: 'deduplication',
  SCHEDULES_TABLE: 'schedules',
  USAGE_TABLE: 'usage',
  BODIES_BUCKET: 'bodies',
  SHORT_QUEUE_ARN: 'arn:short',
  LONG_QUEUE_ARN: 'arn:long',
  DEAD_QUEUE_ARN: 'arn:dead',
  FIRE_QUEUE_ARN: 'arn:fire',
  SCHEDULER_DLQ_ARN: 'arn:dlq',
  SCHEDULER_ROLE_ARN: 'arn:role',
  SCHEDULE_GROUP: 'svc',
  SHORT_QUEUE_URL: 'https://sqs.eu-central-1.amazonaws.com/000000000000/short',
  LONG_QUEUE_URL: 'https://sqs.eu-central-1.amazonaws.com/000000000000/long',
  DEAD_QUEUE_URL: 'https://sqs.eu-central-1.amazonaws.com/000000000000/dead',
  FIRE_QUEUE_URL: 'https://sqs.eu-central-1.amazonaws.com/000000000000/fire',
  UNDELIVERED_FIRES_QUEUE_URL: 'https://sqs.eu-central-1.amazonaws.com/000000000000/undelivered',
  MASTER_SECRET_ID: 'master',
  HEADER_PREFIXES: 'Svc,Upstash',
  MANAGEMENT_SECRET_ID: 'management',
  ACCOUNT_CHANGES_QUEUES: '{"eu-central-1":"https://sqs.eu-central-1.amazonaws.com/000000000000/changes"}',
};

describe.each([...folders])('the bundle of %s', (_, folder) => {
  it('starts without anything around it, and so do its parts', () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'svc-bundle-'));
    onTestFinished(() => {
      rmSync(elsewhere, { recursive: true });
    });
    cpSync(folder, elsewhere, { recursive: true });
    const parts = partsOf(elsewhere).map((file) => `./${file}`);
    const program = `
      const { handler } = await import('./index.mjs');
      for (const part of ${JSON.stringify(parts)}) await import(part);
      process.stdout.write(typeof handler);
    `;
    const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: elsewhere,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: environment,
    });
    expect(output.toString()).toBe('function');
  });

  it('later imports only files beside it', () => {
    const files = partsOf(folder);
    const known = new Set([
      ...files.map((file) => `./${file}`),
      ...builtinModules.map((name) => `node:${name}`),
    ]);
    const imports = files.flatMap((file) => [
      ...readFileSync(join(folder, file), 'utf8').matchAll(/\bimport\(\s*["'`]([^"'`]+)/g),
    ]);
    expect(imports.map(([, imported = '']) => imported).filter((imported) => !known.has(imported))).toEqual(
      [],
    );
  });

  it('takes credentials only from the environment, and has no token and no signing key that is public', () => {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    const text = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8')).join('\n');
    expect(text).not.toMatch(
      /AWS_WEB_IDENTITY_TOKEN_FILE|AWS_CONTAINER_CREDENTIALS_RELATIVE_URI|sso_session/,
    );
    expect(text).not.toMatch(/"default(User|Password)"|sig_[0-9A-Za-z]{20}/);
  });

  it('leaves clients that few requests need, and certificates of accounts, out of the cold start', () => {
    const rare =
      /AmazonS3|x-amz-bucket-region|2015-03-31\/functions|AmazonSimpleNotificationService|AWSEvents|has no private key in PEM/;
    expect([...coldStart(folder).values()].join('\n')).not.toMatch(rare);
  });
});

it.each([
  // The goal of `npm run bench`.
  ['publish', 436_000],
  ['deliver', 458_000],
])('A cold start of %s loads little', (handler, most) => {
  const texts = [...coldStart(folders.get(handler) ?? '').values()];
  const bytes = texts.reduce((total, text) => total + Buffer.byteLength(text), 0);
  const advice =
    'What a handler loads at its start is time that every cold start takes: can it be imported dynamically?';
  expect(bytes, advice).toBeLessThan(most);
});

it('The S3 client is in the bundles that need it, in a separate file', () => {
  for (const handler of ['publish', 'deliver', 'deliverAlone']) {
    const part = join(folders.get(handler) ?? '', 'bucket.mjs');
    expect(readFileSync(part, 'utf8')).toMatch(/AmazonS3|x-amz-bucket-region/);
  }
});

it('A bundle sends to functions, queues, topics and buses through clients with a separate copy of the SDK', async () => {
  const functions = await startFunctions(new Map([['orders', () => ({ statusCode: 201 })]]));
  onTestFinished(() => functions.close());
  vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', functions.url);
  let arrived = 0;
  for (const [service, variable] of [
    ['sqs', 'DESTINATION_SQS_URL'],
    ['sns', 'AWS_ENDPOINT_URL_SNS'],
    ['events', 'AWS_ENDPOINT_URL_EVENTBRIDGE'],
  ] as const) {
    const started = await startAwsService(service, () => void (arrived += 1));
    onTestFinished(() => started.close());
    vi.stubEnv(variable, started.url);
  }
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'none');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'none');
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const handler of ['deliver', 'deliverAlone']) {
    const url = pathToFileURL(join(folders.get(handler) ?? '', 'sending.mjs')).href;
    const { sendToArn } = (await import(url)) as typeof sendingModule;
    const send = (service: string, resource: string) =>
      sendToArn(
        {
          method: 'POST',
          headers: [],
          body: Buffer.from('work'),
          timeoutMs: 30_000,
          maxResponseBytes: 1_000,
        },
        {
          url: `arn:aws:${service}:eu-central-1:123456789012:${resource}`,
          messageId: 'msg_1',
          accountId: 'account',
          callerIp: '192.0.2.1',
          prefix: 'Svc',
          headers: [],
        },
        { deployment: ['*'], account: ['*'] },
      );
    expect(await send('lambda', 'function:orders')).toMatchObject({ status: 201 });
    expect(await send('lambda', 'function:missing')).toMatchObject({
      status: 0,
      error: expect.stringContaining('There is no function') as string,
    });
    expect(await send('sqs', 'orders')).toMatchObject({ status: 200 });
    expect(await send('sns', 'orders')).toMatchObject({ status: 200 });
    expect(await send('events', 'event-bus/orders')).toMatchObject({ status: 200 });
  }
  expect(arrived).toBe(6);
});

it('A bundled bucket stores, returns and deletes', async () => {
  const s3 = await startS3({
    bucket: 'bodies',
    objects: objectsIn(new Store(undefined), Date.now),
    now: Date.now,
    report: (error) => expect.unreachable(String(error)),
  });
  onTestFinished(() => s3.close());
  vi.stubEnv('AWS_ENDPOINT_URL_S3', s3.url);
  vi.stubEnv('AWS_REGION', 'eu-central-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'none');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'none');
  onTestFinished(() => void vi.unstubAllEnvs());

  const url = pathToFileURL(join(folders.get('publish') ?? '', 'bucket.mjs')).href;
  const { openBucket } = (await import(url)) as typeof bucketModule;
  const bucket = openBucket('bodies', prepareClient);
  const body = Buffer.alloc(100_000, 'ü');
  await bucket.put('1d/me/msg_1', body);
  await bucket.put('1d/me/msg_2', Buffer.from('another'));
  expect(Buffer.from(await bucket.get('1d/me/msg_1')).equals(body)).toBe(true);
  expect(Buffer.from(await bucket.get('1d/me/msg_2')).toString()).toBe('another');
  await bucket.delete('1d/me/msg_1');
  await expect(bucket.get('1d/me/msg_1')).rejects.toMatchObject({ name: 'NoSuchKey' });
});

it('A bundled Scheduler client, which has a separate copy of the SDK, creates and deletes schedules once', async () => {
  const report = (error: unknown) => expect.unreachable(String(error));
  const region = 'eu-central-1';
  const common = { region, store: new Store(undefined), now: Date.now, report };
  const sqs = await startSqs({
    ...common,
    queues: [{ name: 'fire', visibilityTimeoutMs: 70_000 }],
  });
  onTestFinished(() => sqs.close());
  const standIn = await startScheduler({ ...common, sqs, groups: ['svc'] });
  onTestFinished(() => standIn.close());
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  vi.stubEnv('AWS_ENDPOINT_URL_SCHEDULER', standIn.url);
  vi.stubEnv('SCHEDULER_ROLE_ARN', 'arn:aws:iam::000000000000:role/scheduler');
  onTestFinished(() => void vi.unstubAllEnvs());

  const folder = bundle('scheduler', join(handlersDirectory, '../aws'));
  const url = pathToFileURL(join(folder, 'index.mjs')).href;
  const { scheduler } = (await import(url)) as typeof schedulerModule;
  const { client, create, delete: unschedule } = await scheduler();
  expect(client.middlewareStack.identify().join()).toContain('httpSigningMiddleware');
  const queueArn = 'arn:aws:sqs:eu-central-1:000000000000:fire';
  const expression = 'at(2999-01-01T00:00:00)';
  const schedule = {
    expression,
    timezone: 'UTC',
    isOnce: true,
    queueArn,
    deadLetterArn: queueArn,
    input: '{}',
  };
  // Something was created twice and deleted twice. The second time is refused, and the errors are recognized
  // by their classes.
  await create({ ...schedule, name: 'one' });
  await create({ ...schedule, name: 'one' });
  await unschedule('one');
  await unschedule('one');
  await expect(create({ ...schedule, name: 'not a name' })).rejects.toMatchObject({
    name: 'ValidationException',
    $metadata: { httpStatusCode: 400 },
  });
});
