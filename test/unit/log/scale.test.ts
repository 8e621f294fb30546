import { BatchWriteItemCommand, ScanCommand, type AttributeValue } from '@aws-sdk/client-dynamodb';
import { describe, expect, it, vi } from 'vitest';
import type { Filter } from '../../../lambdas/wire/filters.ts';
import { rowsPerRead } from '../../../lambdas/table/shards.ts';
import { newId, shardOf, timeOfId } from '../../../lambdas/shared/ids.ts';
import { noFilter } from '../../support/filters.ts';
import { sampleOf } from '../../support/sample.ts';
import { useFixture } from '../../support/useFixture.ts';
import type { Fixture } from '../../support/fixture.ts';

type Item = Record<string, AttributeValue>;

let fixture: Fixture;
let seededAt: number;
let lists: Awaited<ReturnType<typeof importLists>>;

async function importLists() {
  const [logs, dlq] = await Promise.all([
    import('../../../lambdas/log/logs.ts'),
    import('../../../lambdas/deadLetter/deadLetters.ts'),
  ]);
  const accountOf = (id: string) => ({ ...fixture.account, id });
  return {
    logs: async (id: string, filter: Filter) => {
      const { logs: entries, cursor } = await logs.listLogs(accountOf(id), filter);
      return { entries: entries.map(({ messageId, state }) => `${messageId} ${state}`), cursor };
    },
    dlq: async (id: string, filter: Filter) => {
      const { messages, cursor } = await dlq.listDeadLetters(accountOf(id), filter);
      return { entries: messages.map(({ dlqId }) => dlqId), cursor };
    },
  };
}

async function itemsOf(table: string): Promise<readonly Item[]> {
  const { Items = [] } = await fixture.dynamodb.send(
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
      await fixture.dynamodb.send(new BatchWriteItemCommand({ RequestItems: { [table]: requests } }));
    }
  };
  await Promise.all(Array.from({ length: 8 }, lane));
}

/** Each message has four log entries: CREATED, ACTIVE, ERROR and FAILED. */
const many = { logs: sampleOf(20_000), dlq: sampleOf(20_000) };

/** Only the oldest message and dead letter of an account have this label. */
const rare = 'rare';

interface Templates {
  readonly message: Item;
  readonly attempt: Item;
  readonly deadLetter: Item;
}

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
  await write(fixture.settings.messagesTable, rows.flat());
}

async function seedDlq(accountId: string, count: number, { deadLetter }: Templates): Promise<void> {
  const start = Date.now() - count;
  const rows = Array.from({ length: count }, (_, number) => {
    const id = newId('dlq', start + number);
    const labels: AttributeValue = { L: [{ S: number === 0 ? rare : 'common' }] };
    return { ...deadLetter, shard: { S: shardOf(accountId, id) }, id: { S: id }, labels };
  });
  await write(fixture.settings.dlqTable, rows);
}

useFixture(async (opened) => {
  fixture = opened;
  lists = await importLists();
  const inbox = fixture.receiver.inbox((_delivery, response) => response.writeHead(500).end('no'));
  await fixture.send(inbox.url, { retries: '0' });
  await fixture.doJobs();
  const rows = await itemsOf(fixture.settings.messagesTable);
  const [deadLetter] = await itemsOf(fixture.settings.dlqTable);
  const attempt = rows.find((row) => 'attempt' in row);
  const message = rows.find((row) => 'body' in row);
  if (attempt === undefined || message === undefined || deadLetter === undefined) throw new Error('No rows.');
  const templates = { attempt, message, deadLetter };
  seededAt = Date.now();
  await seedLog('few', 50, templates);
  await seedLog('many', many.logs / 4, templates);
  await seedDlq('few', 200, templates);
  await seedDlq('many', many.dlq, templates);
});

describe.each(['logs', 'dlq'] as const)('a page of the %s', (name) => {
  it(`costs the same number of AWS calls with ${many[name]} entries as with 200`, async () => {
    const costs: number[] = [];
    for (const account of ['few', 'many']) {
      fixture.reset();
      const { entries, cursor } = await lists[name](account, { ...noFilter, count: 100 });
      expect(entries).toHaveLength(100);
      expect(cursor).toBeDefined();
      costs.push(fixture.calls());
    }
    // There are eight shards. In the log, each has messages, late records, and up to 500 rows of the two seconds in which a
    // thousand messages a second may still have prompt records.
    expect(costs[1]).toBeLessThanOrEqual(name === 'logs' ? 8 * (1 + 1 + 4) + 1 : 12);
    if (name === 'dlq') expect(costs[1]).toBeLessThanOrEqual(costs[0] ?? 0);
    // The configurations of a page’s messages are read in one call.
    expect(fixture.callsOf('BatchGetItemCommand')).toBe(name === 'logs' ? 1 : 0);
  });

  it('has as many entries as the published clients expect, even if the machine is slow', async () => {
    const { now } = Date;
    let looks = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => now() + 5 * (looks += 1));
    fixture.reset();
    const { entries, cursor } = await lists[name]('many', noFilter);
    expect(entries).toHaveLength(name === 'logs' ? 1_000 : 100);
    expect(cursor).toBeDefined();
    expect(fixture.calls()).toBeLessThanOrEqual(name === 'logs' ? 64 : 12);
  });

  it('costs the same in the middle of the list', async () => {
    const page = { ...noFilter, count: 100 };
    const first = await lists[name]('many', page);
    fixture.reset();
    await lists[name]('many', { ...page, toDate: seededAt - many.logs / 8 });
    const byDate = fixture.calls();
    fixture.reset();
    await lists[name]('many', { ...page, cursor: first.cursor });
    expect(Math.max(byDate, fixture.calls())).toBeLessThanOrEqual(name === 'logs' ? 8 * (1 + 1 + 4) : 12);
  });

  it('and the next pages have every entry once', async () => {
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

  it('answers in time with a cursor if few entries match, and the next pages find them', async () => {
    // All readings of the clock, one for each row, take longer than a page may.
    const { now } = Date;
    const lookMs = 20_000 / many[name];
    let looks = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => now() + lookMs * (looks += 1));
    const values = new Map([['label', new Set([rare])]] as const);
    const found: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const startedAt = looks;
      const page = await lists[name]('many', { ...noFilter, count: 100, values, cursor });
      // The page ended within a second, after the rows that are always read. The reads take their time from
      // the same clock.
      expect(looks - startedAt).toBeLessThan(Math.max(450, 1_500 / lookMs));
      found.push(...page.entries);
      cursor = page.cursor;
      pages += 1;
    } while (cursor !== undefined);
    expect(pages).toBeGreaterThan(1);
    expect(found).toHaveLength(name === 'logs' ? 4 : 1);
  });
});

it('a page with few matching entries reads its partitions in parallel, and no row twice', async () => {
  let begun = 0;
  let bothHaveBegun = (): void => undefined;
  const both = new Promise<void>((resolve) => (bothHaveBegun = resolve));
  fixture.dynamodb.middlewareStack.add(
    (next) => async (args) => {
      // From the third page of a partition on, it reads ahead. No such page is answered before a second one is asked for.
      if ('Limit' in args.input && Number(args.input.Limit) > 2 * rowsPerRead) {
        begun += 1;
        if (begun === 2) bothHaveBegun();
        await both;
      }
      return next(args);
    },
    { step: 'initialize', name: 'barrier' },
  );
  try {
    vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    const values = new Map([['label', new Set([rare])]] as const);
    const { entries } = await lists.dlq('many', { ...noFilter, values });
    expect(entries).toHaveLength(1);
    // Each of eight partitions is read in pages of 40 rows, 80, 160 and so on, up to 640.
    const rows = many.dlq / 8;
    const pages = Math.ceil(Math.max(0, Math.log2(rows / 40 + 1), (rows - 600) / 640 + 4)) + 1;
    expect(fixture.callsOf('QueryCommand')).toBeLessThanOrEqual(8 * (pages + 1));
  } finally {
    fixture.dynamodb.middlewareStack.remove('barrier');
  }
});
