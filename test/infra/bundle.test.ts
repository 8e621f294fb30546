import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { bundle, handlersDirectory } from '../../lib/bundle.ts';

const handlers = readdirSync(handlersDirectory).map((name) => name.replace(/\.ts$/, ''));
const folders = new Map(handlers.map((handler) => [handler, bundle(handler)]));

/** What a cold start reads: the index and all that it imports at once. */
function coldStart(
  folder: string,
  file = 'index.mjs',
  seen = new Map<string, string>(),
): Map<string, string> {
  const text = readFileSync(join(folder, file), 'utf8');
  seen.set(file, text);
  for (const [, part] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) {
    if (part !== undefined && !seen.has(part)) coldStart(folder, part, seen);
  }
  return seen;
}

describe.each([...folders])('the bundle of %s', (_, folder) => {
  it('is the same when it is made again', () => {
    const [handler = ''] = [...folders].find(([, known]) => known === folder) ?? [];
    expect(bundle(handler)).toBe(folder);
  });

  it('starts by itself, with nothing around it, and has a handler', () => {
    const url = pathToFileURL(join(folder, 'index.mjs')).href;
    const program = `const { handler } = await import(${JSON.stringify(url)}); process.stdout.write(typeof handler);`;
    const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        AWS_REGION: 'eu-central-1',
        AWS_ACCESS_KEY_ID: 'none',
        AWS_SECRET_ACCESS_KEY: 'none',
        AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
        MESSAGES_TABLE: 'messages',
        DLQ_TABLE: 'dlq',
        ACCOUNTS_TABLE: 'accounts',
        GROUPS_TABLE: 'groups',
        DEDUPLICATION_TABLE: 'deduplication',
        SCHEDULES_TABLE: 'schedules',
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
        MASTER_SECRET_ID: 'master',
      },
    });
    expect(output.toString()).toBe('function');
  });

  it('knows credentials from the environment only', () => {
    const all = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
    expect(all.join('\n')).not.toMatch(
      /AWS_WEB_IDENTITY_TOKEN_FILE|AWS_CONTAINER_CREDENTIALS_RELATIVE_URI|sso_session/,
    );
  });

  it('leaves the S3 client out of the cold start', () => {
    expect([...coldStart(folder).values()].join('\n')).not.toMatch(/AmazonS3|x-amz-bucket-region/);
  });
});

it('The S3 client is in the bundles that need it', () => {
  for (const handler of ['publish', 'deliver', 'abandon']) {
    const folder = folders.get(handler) ?? '';
    const all = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
    expect(all.join('\n')).toMatch(/AmazonS3|x-amz-bucket-region/);
  }
});
