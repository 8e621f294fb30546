/** Rows of many messages, as the service writes them: copies of those of two messages that it has taken and delivered. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { newId, shardOf } from '../../lambdas/shared/ids.ts';
import { chunksOf, eachOf } from '../../lambdas/shared/lists.ts';
import { callOf, type SendForClient } from '../../local/dynamodb/connection.ts';
import { startDynamodb, type Dynamodb } from '../../local/dynamodb/dynamodb.ts';
import { eventually } from '../../test/support/eventually.ts';
import { startReceiver } from '../../test/support/receiver.ts';
import type { Stage } from '../../test/support/stage.ts';
import { makeStageAccount } from '../stageAccount.ts';

const row = z.record(z.string(), z.unknown());
type Row = z.infer<typeof row>;

/** The rows of one message: its own first. */
export type Rows = readonly Row[];
export interface Samples {
  readonly waiting: Rows;
  readonly delivered: Rows;
}

const bodyBytes = 500;
/** Rows of a write, and writes at once. */
const together = 24;
const writesAtOnce = 8;

/** Has a stage deliver a message, and take one that waits for days; then stops it. */
export async function takeSamples(stage: Stage): Promise<Samples> {
  const receiver = await startReceiver();
  try {
    const inbox = receiver.inbox();
    const token = await makeStageAccount(stage);
    const publish = async (headers: Readonly<Record<string, string>>): Promise<string> => {
      const answer = await fetch(`${stage.url}/v2/publish/${inbox.url}/hooks/orders/paid`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ note: 'n'.repeat(bodyBytes) }),
      });
      return z.object({ messageId: z.string() }).parse(await answer.json()).messageId;
    };
    const delivered = await publish({});
    const waiting = await publish({ 'Svc-Delay': '5d' });
    await inbox.received(1);
    await stage.stop();
    return await withDatabase(stage.dataDir, async ({ call }) => {
      const { Items } = z
        .object({ Items: z.array(row) })
        .parse(await ask(call, 'Scan', { TableName: 'messages' }));
      const rowsOf = (id: string): Rows => Items.filter((item) => textOf(item, 'id').startsWith(id));
      return { waiting: rowsOf(waiting), delivered: rowsOf(delivered) };
    });
  } finally {
    await receiver.close();
  }
}

/** Opens the database of a stage that does not run. */
export async function withDatabase<T>(
  dataDir: string,
  work: (database: { readonly call: SendForClient; readonly pid: number }) => Promise<T>,
): Promise<T> {
  const database: Dynamodb = await startDynamodb({
    file: join(dataDir, 'dynamodb.db'),
    announce: console.log,
    onExit: (error) => {
      throw error;
    },
  });
  try {
    const { call, pid } = database;
    if (call === undefined || pid === undefined) throw new Error('DYNAMODB_ENDPOINT must not be set.');
    const isUp = () =>
      ask(call, 'ListTables', {}).then(
        () => true,
        () => false,
      );
    await eventually(isUp, (is) => is);
    return await work({ call, pid });
  } finally {
    await database.stop();
  }
}

async function ask(call: SendForClient, operation: string, input: object): Promise<unknown> {
  const { status, body } = await call(callOf(operation, input));
  const text = Buffer.from(body).toString();
  if (status !== 200) throw new Error(text);
  return JSON.parse(text);
}

/** Writes messages like a sample, each with an id of its own. @param at Unix milliseconds of their acceptance */
export async function copyMessages(
  call: SendForClient,
  sample: Rows,
  count: number,
  at: number,
): Promise<void> {
  const rows = Array.from({ length: count }, () => copyOf(sample, at)).flat();
  await eachOf(chunksOf(rows, together), writesAtOnce, async (chunk) => {
    const messages = chunk.map((Item) => ({ PutRequest: { Item } }));
    await ask(call, 'BatchWriteItem', { RequestItems: { messages } });
  });
}

function copyOf(sample: Rows, at: number): Rows {
  const own = sample[0] ?? {};
  const before = textOf(own, 'id');
  const messageId = newId('msg', at);
  const accountId = textOf(own, 'shard').replace(/#\d+$/, '');
  const laterMs = at - Number(numberIn(own, 'createdAt'));
  return sample.map((one) => {
    const copy: Row = { ...one };
    for (const name of ['createdAt', 'notBefore', 'startedAt', 'recordedAt', 'expiresAt']) {
      const value = numberIn(one, name);
      const later = name === 'expiresAt' ? Math.floor(laterMs / 1_000) : laterMs;
      if (value !== undefined) copy[name] = { N: String(Number(value) + later) };
    }
    copy['id'] = { S: textOf(one, 'id').replace(before, messageId) };
    copy['shard'] = { S: shardOf(accountId, messageId) };
    return copy;
  });
}

const textOf = (item: Row, name: string): string => z.object({ S: z.string() }).parse(item[name]).S;
const numberIn = (item: Row, name: string): string | undefined =>
  z.object({ N: z.string() }).safeParse(item[name]).data?.N;

/** The resident memory of a process, MB. Linux only. */
export function residentMb(pid: number): number {
  const [, kb = 'NaN'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kb) / 1_024;
}
