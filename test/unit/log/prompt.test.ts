/** Tests the log of prompt deliveries, whose records are not in its index, beside others: nothing is missing, doubled or moved. */
import { BatchWriteItemCommand, ScanCommand, type AttributeValue } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { promptMs } from '../../../lambdas/message/rows.ts';
import { newId, shardOf, timeOfId } from '../../../lambdas/shared/ids.ts';
import { shardsOf } from '../../../lambdas/table/shards.ts';
import type { Filter } from '../../../lambdas/wire/filters.ts';
import { noFilter } from '../../support/filters.ts';
import type { Fixture } from '../../support/fixture.ts';
import { imported } from '../../support/imported.ts';
import { useFixture } from '../../support/useFixture.ts';

type Item = Record<string, AttributeValue>;

let fixture: Fixture;
useFixture(async (opened) => {
  fixture = opened;
  const inbox = fixture.receiver.inbox();
  await fixture.send(inbox.url);
  await fixture.doJobs();
  const { Items = [] } = await fixture.dynamodb.send(
    new ScanCommand({ TableName: fixture.settings.messagesTable }),
  );
  const message = Items.find((row) => 'body' in row);
  const attempt = Items.find((row) => 'attempt' in row);
  if (message === undefined || attempt === undefined) throw new Error('No rows.');
  templates = { message, attempt };
});
const lambdas = imported(async () => ({
  ...(await import('../../../lambdas/log/logs.ts')),
  ...(await import('../../../lambdas/statistics/readAttempts.ts')),
  ...(await import('../../../lambdas/statistics/store/log.ts')),
}));

let templates: Readonly<Record<'message' | 'attempt', Item>>;

const start = Date.now() - 60_000;
const number = (value: number): AttributeValue => ({ N: String(value) });

/** @returns the records' times and ids, newest first */
async function seed(
  { id: accountId, shards }: { id: string; shards: number },
  isOneShard: boolean,
  count: number,
  spreadMs: number,
): Promise<readonly (readonly [number, string])[]> {
  const records: (readonly [number, string])[] = [];
  const rows: Item[] = [];
  for (let index = 0; index < count; index += 1) {
    const made = newId('msg', start + Math.floor((index * spreadMs) / count), shards);
    const id = isOneShard ? made.replace(/.$/, '0') : made;
    const accepted = timeOfId(id);
    const shard: AttributeValue = { S: shardOf(accountId, id) };
    rows.push({ ...templates.message, shard, id: { S: id }, createdAt: number(accepted) });
    // Every seventh waits; some were recorded before they were accepted, by a clock that was set back.
    if (index % 7 === 0) continue;
    const after = [0, 1, promptMs, promptMs + 1, -1, (index * 37) % (2 * promptMs)][index % 6] ?? 0;
    const isPrompt = after >= 0 && after <= promptMs;
    const attempt = Object.fromEntries(
      Object.entries(templates.attempt).filter(([name]) => name !== 'after'),
    );
    const time: Item = isPrompt ? { after: number(after) } : { recordedAt: number(accepted + after) };
    rows.push({ ...attempt, ...time, shard, id: { S: `${id}~000000` } });
    records.push([accepted + after, id]);
  }
  for (let from = 0; from < rows.length; from += 25) {
    const requests = rows.slice(from, from + 25).map((Item) => ({ PutRequest: { Item } }));
    await fixture.dynamodb.send(
      new BatchWriteItemCommand({ RequestItems: { [fixture.settings.messagesTable]: requests } }),
    );
  }
  return records.sort(([one, id], [other, otherId]) => other - one || (id < otherId ? 1 : -1));
}

async function listed(account: { id: string; shards: number }, filter: Partial<Filter>) {
  const values = new Map([['state', new Set(['DELIVERED'])]] as const);
  const found: (readonly [number, string])[] = [];
  let cursor: string | undefined;
  do {
    const page = await lambdas.listLogs(
      { ...fixture.account, ...account },
      { ...noFilter, values, ...filter, cursor },
    );
    found.push(...page.logs.map(({ time, messageId }) => [time, messageId] as const));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
}

it('is not in the index', async () => {
  expect(templates.attempt).not.toHaveProperty('recordedAt');
  const [[time, messageId] = []] = await listed(fixture.account, {});
  expect(messageId).toBe(templates.message['id']?.S);
  expect(time).toBe(timeOfId(messageId ?? '') + Number(templates.attempt['after']?.N));
});

describe.each([
  ['one shard, slowly', true, 8, 300, 30_000],
  ['one shard, a thousand at once', true, 8, 1_000, 1],
  ['eight shards', false, 8, 1_500, 5_000],
  ['32 shards', false, 32, 700, 9_000],
])('records of %s', (_name, isOneShard, shards, count, spreadMs) => {
  const account = { id: `acct-${shards}-${count}`, shards };
  let records: readonly (readonly [number, string])[] = [];

  it('are listed once, in order, page by page', async () => {
    records = await seed(account, isOneShard, count, spreadMs);
    for (const pageSize of [83, 1_000]) {
      expect(await listed(account, { count: pageSize })).toEqual(records);
      expect(await listed(account, { count: pageSize, order: 'earliestFirst' })).toEqual(
        records.toReversed(),
      );
    }
  });

  it('are listed between two times', async () => {
    const [fromDate, toDate] = [records[Math.floor(records.length / 2)]?.[0] ?? 0, records[20]?.[0] ?? 0];
    const between = records.filter(([time]) => time >= fromDate && time <= toDate);
    expect(between.length).toBeGreaterThan(0);
    expect(await listed(account, { fromDate, toDate })).toEqual(between);
    expect(await listed(account, { fromDate, toDate, order: 'earliestFirst' })).toEqual(between.toReversed());
  });

  it('are counted once', async () => {
    const times: number[] = [];
    for (const shard of shardsOf(account)) {
      for (let behind: number | undefined = 0; behind !== undefined;) {
        const read = await lambdas.readEnds(shard, behind);
        times.push(...read.records.map(({ recordedAt }) => recordedAt));
        behind = read.readUntil;
      }
    }
    expect(times.sort((one, other) => other - one)).toEqual(records.map(([time]) => time));
  });

  it('are looked back at without a gap', async () => {
    const { attempts, from } = await lambdas.readOnce({ ...fixture.account, ...account }, { most: 50 });
    const times = attempts.map(({ recordedAt }) => recordedAt).sort((one, other) => other - one);
    const newest = records.map(([time]) => time).filter((time) => time >= from);
    expect(times).toEqual(newest);
    const back = await lambdas.readBack({ ...fixture.account, ...account }, 0, Date.now(), {});
    expect([back.attempts.length, back.lookedFrom]).toEqual([records.length, undefined]);
  });
});
