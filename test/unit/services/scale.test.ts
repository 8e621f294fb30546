import { BatchWriteItemCommand, ScanCommand, type AttributeValue } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Filter } from '../../../lambdas/domain/filters.ts';
import { newId, shardOf, timeOfId } from '../../../lambdas/domain/ids.ts';
import { noFilter } from '../../support/filters.ts';
import { openWorld, type World } from '../../support/world.ts';

/** Lists cost as much whatever stands behind them. */

type Item = Record<string, AttributeValue>;

let world: World;
let lists: Awaited<ReturnType<typeof importLists>>;

async function importLists() {
  const [logs, dlq] = await Promise.all([
    import('../../../lambdas/services/logs.ts'),
    import('../../../lambdas/services/dlq.ts'),
  ]);
  const accountOf = (id: string) => ({ ...world.account, id });
  return {
    logs: async (id: string, filter: Filter) => {
      const { logs: entries, cursor } = await logs.listLogs(accountOf(id), filter);
      return { entries: entries.map(({ messageId, state }) => `${messageId} ${state}`), cursor };
    },
    dlq: async (id: string, filter: Filter) => {
      const { messages, cursor } = await dlq.listDlq(accountOf(id), filter);
      return { entries: messages.map(({ dlqId }) => dlqId), cursor };
    },
  };
}

async function itemsOf(table: string): Promise<readonly Item[]> {
  const { Items = [] } = await world.dynamodb.send(
    new ScanCommand({ TableName: table, ConsistentRead: true }),
  );
  return Items;
}

async function write(table: string, items: readonly Item[]): Promise<void> {
  const chunks = Array.from({ length: Math.ceil(items.length / 25) }, (_, index) =>
    items.slice(index * 25, (index + 1) * 25),
  ).values();
  const lane = async (): Promise<void> => {
    for (const chunk of chunks) {
      const requests = chunk.map((item) => ({ PutRequest: { Item: item } }));
      await world.dynamodb.send(new BatchWriteItemCommand({ RequestItems: { [table]: requests } }));
    }
  };
  await Promise.all(Array.from({ length: 8 }, lane));
}

/** The oldest of an account's messages and dead letters, and no other, has this label. */
const rare = 'rare';

interface Templates {
  readonly message: Item;
  readonly attempt: Item;
  readonly deadLetter: Item;
}

/** Gives an account so many messages that failed, many of them recorded at the same moment. */
async function seedLog(accountId: string, count: number, { message, attempt }: Templates): Promise<void> {
  const start = Date.now() - count;
  const rows = Array.from({ length: count }, (_, number) => {
    const id = newId('msg', start + number);
    const labels: AttributeValue = { L: [{ S: number === 0 ? rare : 'common' }] };
    const shard: AttributeValue = { S: shardOf(accountId, id) };
    const recordedAt = start + number - (number % 50) + 50;
    return [
      { ...message, shard, id: { S: id }, labels, createdAt: { N: String(timeOfId(id)) } },
      { ...attempt, shard, id: { S: `${id}~000000` }, labels, recordedAt: { N: String(recordedAt) } },
    ];
  });
  await write(world.settings.messagesTable, rows.flat());
}

async function seedDlq(accountId: string, count: number, { deadLetter }: Templates): Promise<void> {
  const start = Date.now() - count;
  const rows = Array.from({ length: count }, (_, number) => {
    const id = newId('dlq', start + number);
    const labels: AttributeValue = { L: [{ S: number === 0 ? rare : 'common' }] };
    return { ...deadLetter, shard: { S: shardOf(accountId, id) }, id: { S: id }, labels };
  });
  await write(world.settings.dlqTable, rows);
}

beforeAll(async () => {
  world = await openWorld();
  lists = await importLists();
  const inbox = world.receiver.inbox((_delivery, response) => response.writeHead(500).end('no'));
  await world.send(inbox.url, { retries: '0' });
  await world.work();
  const rows = await itemsOf(world.settings.messagesTable);
  const [deadLetter] = await itemsOf(world.settings.dlqTable);
  const attempt = rows.find((row) => 'attempt' in row);
  const message = rows.find((row) => 'body' in row);
  if (attempt === undefined || message === undefined || deadLetter === undefined) throw new Error('No rows.');
  const templates = { attempt, message, deadLetter };
  // Each message has four entries in the log: CREATED, ACTIVE, ERROR and FAILED.
  await seedLog('few', 50, templates);
  await seedLog('many', 5_000, templates);
  await seedDlq('few', 200, templates);
  await seedDlq('many', 20_000, templates);
}, 60_000);
afterAll(() => world.close());
afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(['logs', 'dlq'] as const)('a page of the %s', (name) => {
  it('costs as many AWS calls with 20,000 entries as with 200', async () => {
    const costs: number[] = [];
    for (const account of ['few', 'many']) {
      world.reset();
      const { entries, cursor } = await lists[name](account, noFilter);
      expect(entries).toHaveLength(100);
      expect(cursor).toBeDefined();
      costs.push(world.calls());
    }
    expect(costs[1]).toBeLessThanOrEqual(costs[0] ?? 0);
    // Eight shards; of the log, each has messages and records.
    expect(costs[1]).toBeLessThanOrEqual(name === 'logs' ? 24 : 12);
  });

  it('costs as many in the middle of the list', async () => {
    const first = await lists[name]('many', noFilter);
    world.reset();
    await lists[name]('many', { ...noFilter, toDate: Date.now() - 2_000 });
    const byDate = world.calls();
    world.reset();
    await lists[name]('many', { ...noFilter, cursor: first.cursor });
    expect(Math.max(byDate, world.calls())).toBeLessThanOrEqual(name === 'logs' ? 24 : 12);
  });

  it('and those that follow have every entry once', async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await lists[name]('few', { ...noFilter, count: 37, cursor });
      seen.push(...page.entries);
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen).toHaveLength(200);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('answers in time with a cursor when few entries match, and paging on finds them', async () => {
    // Each look at the clock takes a millisecond, and there is one for each row.
    const { now } = Date;
    let looks = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => now() + (looks += 1));
    const values = new Map([['label', new Set([rare])]] as const);
    const found: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const startedAt = looks;
      const page = await lists[name]('many', { ...noFilter, values, cursor });
      expect(looks - startedAt).toBeLessThan(6_000);
      found.push(...page.entries);
      cursor = page.cursor;
      pages += 1;
    } while (cursor !== undefined);
    expect(pages).toBeGreaterThan(1);
    expect(found).toHaveLength(name === 'logs' ? 4 : 1);
  }, 30_000);
});
