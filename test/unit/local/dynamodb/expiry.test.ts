import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { tables } from '../../../../lambdas/aws/resources.ts';
import { callOf, type SendForClient } from '../../../../local/dynamodb/connection.ts';
import { startDynamodb, waitForTables, type Dynamodb } from '../../../../local/dynamodb/dynamodb.ts';
import { deleteExpired } from '../../../../local/dynamodb/expiry.ts';
import { createMissing } from '../../../../local/dynamodb/tables.ts';

let folder = '';
let database: Dynamodb;
let call: SendForClient;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-expiry-'));
  database = await startDynamodb({
    file: join(folder, 'dynamodb.db'),
    announce: () => undefined,
    onExit: (error) => {
      throw error;
    },
  });
  if (database.call === undefined) throw new Error('The database is not dynoxide.');
  ({ call } = database);
  const client = new DynamoDBClient({
    region: 'eu-central-1',
    endpoint: database.url,
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
  });
  const existing = await waitForTables(client, database.url, AbortSignal.timeout(60_000));
  await createMissing(client, tables, existing);
  client.destroy();
});
afterAll(async () => {
  await database.stop();
  await rm(folder, { recursive: true, force: true });
});

const nowMs = 1_800_000_000_000;

const put = (id: string, expiresAt?: number) =>
  call(
    callOf('PutItem', {
      TableName: 'deduplication',
      Item: { id: { S: id }, ...(expiresAt !== undefined && { expiresAt: { N: String(expiresAt) } }) },
    }),
  );

async function ids(): Promise<readonly string[]> {
  const { body } = await call(callOf('Scan', { TableName: 'deduplication' }));
  const { Items } = z
    .object({ Items: z.array(z.object({ id: z.object({ S: z.string() }) })) })
    .parse(JSON.parse(Buffer.from(body).toString()));
  return Items.map(({ id }) => id.S).toSorted();
}

test('rows past their time are deleted, and others stay', async () => {
  const seconds = nowMs / 1_000;
  await Promise.all([
    ...Array.from({ length: 120 }, (_, at) => put(`past${at}`, seconds - 1 - at)),
    put('now', seconds),
    put('later', seconds + 1),
    put('ever'),
  ]);
  let pauses = 0;
  const deleted = await deleteExpired({
    call,
    now: () => nowMs,
    pause: () => {
      pauses += 1;
      return Promise.resolve();
    },
  });
  expect(deleted).toBe(120);
  expect(await ids()).toEqual(['ever', 'later', 'now']);
  expect(pauses).toBeGreaterThan(5);
});

test('a row that is given more time meanwhile stays', async () => {
  const seconds = nowMs / 1_000;
  await put('extended', seconds - 1);
  const extending: SendForClient = async (made) => {
    const answer = await call(made);
    if (made.operation === 'Scan' && made.body.includes('deduplication')) await put('extended', seconds + 60);
    return answer;
  };
  expect(await deleteExpired({ call: extending, now: () => nowMs, pause: () => Promise.resolve() })).toBe(0);
  expect(await ids()).toContain('extended');
});
