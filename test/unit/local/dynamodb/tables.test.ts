/** Tests what AWS documents about tables and indexes. `differential.campaign.test.ts` compares with other databases. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import type { HandOver } from '../../../../local/aws/handOver.ts';
import { handOverTo } from '../../../../local/dynamodb/dynamodb.ts';
import { Rows } from '../../../../local/dynamodb/rows.ts';
import type { Item } from '../../../../local/dynamodb/values.ts';
import { Store } from '../../../../local/store/store.ts';

let store: Store;
let call: HandOver;
const failures: unknown[] = [];
beforeEach(() => {
  store = new Store(undefined);
  call = handOverTo(new Rows(store), (error) => failures.push(error));
});
afterEach(async () => {
  await store.close();
  expect(failures.splice(0)).toEqual([]);
});

const page = z.object({
  Items: z.array(z.record(z.string(), z.object({ S: z.optional(z.string()), N: z.optional(z.string()) }))),
  Count: z.number(),
  LastEvaluatedKey: z.optional(z.record(z.string(), z.unknown())),
});

const anObject = z.custom<object>((value) => typeof value === 'object' && value !== null);

const put = (TableName: string, Item: Item): Promise<object> => call('PutItem', { TableName, Item });

/** Returns an attribute of each row on all pages, and the number of pages. */
async function walk(attribute: string, input: object, operation = 'Query') {
  const values: string[] = [];
  let pages = 0;
  let ExclusiveStartKey: object | undefined;
  do {
    const answer = page.parse(await call(operation, { ...input, ExclusiveStartKey }));
    values.push(...answer.Items.map((item) => item[attribute]?.S ?? item[attribute]?.N ?? ''));
    ExclusiveStartKey = answer.LastEvaluatedKey;
    pages += 1;
  } while (ExclusiveStartKey !== undefined);
  return { values, pages };
}

const message = (id: string, rest: Item = {}): Item => ({ shard: { S: 'p' }, id: { S: id }, ...rest });
const partition = {
  TableName: 'messages',
  KeyConditionExpression: '#p = :p',
  ExpressionAttributeNames: { '#p': 'shard' },
  ExpressionAttributeValues: { ':p': { S: 'p' } },
};
const above = (condition: string, value: object, input: object = {}) => ({
  ...partition,
  ...input,
  KeyConditionExpression: `#p = :p AND ${condition}`,
  ExpressionAttributeValues: { ':p': { S: 'p' }, ':v': value },
});

describe('the order of keys', () => {
  const ids = ['a', 'a\0', 'a\0b', 'a\u0001', 'ab', 'b', 'é', 'Ｚ', '😀', '😀a'];

  test('texts are in the order of their UTF-8 bytes, forward and backward, in pages of any size', async () => {
    for (const id of ids.toReversed()) await put('messages', message(id));
    for (const Limit of [undefined, 1, 3]) {
      expect((await walk('id', { ...partition, Limit })).values).toEqual(ids);
      expect((await walk('id', { ...partition, Limit, ScanIndexForward: false })).values).toEqual(
        ids.toReversed(),
      );
    }
  });

  test('conditions on the sort key are exact at their bounds', async () => {
    for (const id of ids) await put('messages', message(id));
    const read = async (condition: string, value: string) =>
      (await walk('id', above(condition, { S: value }))).values;
    expect(await read('id > :v', 'a')).toEqual(ids.slice(1));
    expect(await read('id >= :v', 'a\0')).toEqual(ids.slice(1));
    expect(await read('id < :v', 'a\u0001')).toEqual(ids.slice(0, 3));
    expect(await read('id <= :v', 'a\u0001')).toEqual(ids.slice(0, 4));
    expect(await read('id = :v', 'a')).toEqual(['a']);
    expect(await read('begins_with(id, :v)', 'a\0')).toEqual(['a\0', 'a\0b']);
    expect(await read('begins_with(id, :v)', '😀')).toEqual(['😀', '😀a']);
  });

  test('the entries of an index are in the order of their numbers', async () => {
    const numbers = [
      '-9.9E+125',
      '-100',
      '-10',
      '-9',
      '-1.5',
      '-1',
      '-0.001',
      '-1E-130',
      '0',
      '1E-130',
      '0.001',
      '1',
      '1.5',
      '9',
      '10',
      '100',
      '12345678901234567890',
      '12345678901234567891',
      '9.9E+125',
    ];
    for (const [at, N] of numbers.toReversed().entries()) {
      await put('messages', message(`row${at}`, { recordedAt: { N } }));
    }
    await put('messages', message('not in the index'));
    const log = { ...partition, IndexName: 'log' };
    const { values } = await walk('id', { ...log, Limit: 2 });
    expect(values).toEqual(numbers.map((_, at) => `row${numbers.length - 1 - at}`));
    const positive = await walk('id', above('recordedAt > :v', { N: '0' }, { IndexName: 'log' }));
    expect(positive.values).toEqual(values.slice(9));
    const among = await walk('id', above('recordedAt <= :v', { N: '-1' }, { IndexName: 'log' }));
    expect(among.values).toEqual(values.slice(0, 6));
  });

  test('partitions are separate, however long and similar their keys are', async () => {
    const long = 'x'.repeat(2_047);
    const keys = ['p', 'p\0', 'p\0a', `${long}a`, `${long}b`, 'x'.repeat(700), 'x'.repeat(701)];
    for (const S of keys) await put('messages', { shard: { S }, id: { S: 'id' }, recordedAt: { N: '1' } });
    for (const S of keys) {
      for (const IndexName of [undefined, 'log']) {
        const its = { ...partition, IndexName, ExpressionAttributeValues: { ':p': { S } } };
        expect((await walk('shard', its)).values).toEqual([S]);
      }
    }
    expect((await walk('shard', { TableName: 'messages', Limit: 2 }, 'Scan')).values.toSorted()).toEqual(
      keys.toSorted(),
    );
  });

  test('a row is removed from an index with its key, and moves with it', async () => {
    const change = (UpdateExpression: string, values: object = {}) =>
      call('UpdateItem', {
        TableName: 'messages',
        Key: message('row'),
        UpdateExpression,
        ...values,
      });
    const log = () => walk('recordedAt', { ...partition, IndexName: 'log' });
    await put('messages', message('row', { recordedAt: { N: '5' } }));
    expect((await log()).values).toEqual(['5']);
    await change('SET recordedAt = :v', { ExpressionAttributeValues: { ':v': { N: '7' } } });
    expect((await log()).values).toEqual(['7']);
    await change('REMOVE recordedAt');
    expect((await log()).values).toEqual([]);
  });
});

describe('pages', () => {
  test('a page ends with the row that reaches 1 MB, even if its filter drops rows', async () => {
    for (let at = 0; at < 7; at += 1) {
      await put('messages', message(`row${at}`, { body: { S: 'x'.repeat(300_000) } }));
    }
    expect(await walk('id', partition)).toMatchObject({ pages: 2 });
    expect(await walk('id', { ...partition, FilterExpression: 'attribute_not_exists(body)' })).toEqual({
      values: [],
      pages: 2,
    });
    const counted = await call('Query', { ...partition, Select: 'COUNT', ReturnConsumedCapacity: 'TOTAL' });
    expect(counted).toMatchObject({
      Count: 4,
      ScannedCount: 4,
      ConsumedCapacity: { CapacityUnits: Math.ceil((4 * 300_023) / 4_096) / 2 },
    });
    expect(counted).not.toHaveProperty('Items');
  });

  test('a page that the limit ends has a cursor, even if no row follows', async () => {
    await put('messages', message('a'));
    expect(await walk('id', { ...partition, Limit: 1 })).toEqual({ values: ['a'], pages: 2 });
    expect(await walk('id', { ...partition, Limit: 2 })).toEqual({ values: ['a'], pages: 1 });
  });

  test.each([
    [
      { shard: { S: 'q' }, id: { S: 'a' } },
      'The provided starting key is outside query boundaries based on provided conditions',
    ],
    [
      { shard: { S: 'p' }, id: { S: 'z' } },
      'The provided starting key does not match the range key predicate',
    ],
    [{ shard: { S: 'p' } }, 'The provided starting key is invalid'],
    [
      { shard: { S: 'p' }, id: { N: '1' } },
      'The provided starting key is invalid: The provided key element does not match the schema',
    ],
  ])('the cursor %j is refused', async (ExclusiveStartKey, refusal) => {
    await expect(call('Query', { ...above('id < :v', { S: 'c' }), ExclusiveStartKey })).rejects.toThrow(
      refusal,
    );
  });

  test.each([
    [{ Select: 'COUNT', ProjectionExpression: 'id' }, 'when choosing to get only the Count'],
    [{ Select: 'ALL_PROJECTED_ATTRIBUTES' }, 'can be used only when Querying using an IndexName'],
    [{ Select: 'SPECIFIC_ATTRIBUTES' }, 'Must specify the AttributesToGet or ProjectionExpression'],
    [{ IndexName: 'present', Select: 'ALL_ATTRIBUTES' }, 'because its projection type is not ALL'],
    [{ IndexName: 'present', ConsistentRead: true }, 'Consistent reads are not supported'],
    [{ IndexName: 'absent' }, 'The table does not have the specified index: absent'],
    [
      { Limit: 0 },
      "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
    ],
  ])('the Scan %j is refused', async (input, refusal) => {
    await expect(call('Scan', { TableName: 'dlq', ...input })).rejects.toThrow(refusal);
  });
});

describe('writes', () => {
  test('an update that only removes creates no row, and other updates do', async () => {
    const update = (id: string, UpdateExpression: string | undefined) =>
      call('UpdateItem', { TableName: 'deduplication', Key: { id: { S: id } }, UpdateExpression });
    await update('removed', 'REMOVE a, b.c, d[1]');
    await update('none', undefined);
    await expect(update('none', 'REMOVE b.c')).rejects.toThrow('The document path provided');
    expect((await walk('id', { TableName: 'deduplication' }, 'Scan')).values).toEqual(['none']);
  });

  test('a batch with a refused write writes nothing', async () => {
    const wrong = message('b', { recordedAt: { S: 'a text' } });
    await expect(
      call('BatchWriteItem', {
        RequestItems: {
          messages: [{ PutRequest: { Item: message('a') } }, { PutRequest: { Item: wrong } }],
        },
      }),
    ).rejects.toThrow('Type mismatch for Index Key recordedAt Expected: N Actual: S IndexName: log');
    expect((await walk('id', partition)).values).toEqual([]);
  });

  test.each([
    [{}, "Value '{}' at 'requestItems' failed to satisfy constraint"],
    [{ deduplication: [] }, 'Member must have length greater than or equal to 1'],
    [
      {
        deduplication: Array.from({ length: 26 }, (_, at) => ({
          DeleteRequest: { Key: { id: { S: `${at}` } } },
        })),
      },
      'Member must have length less than or equal to 25',
    ],
    [
      {
        deduplication: [
          { DeleteRequest: { Key: { id: { S: 'a' } } } },
          { PutRequest: { Item: { id: { S: 'a' } } } },
        ],
      },
      'Provided list of item keys contains duplicates',
    ],
  ])('a wrong batch is refused', async (RequestItems, refusal) => {
    await expect(call('BatchWriteItem', { RequestItems })).rejects.toThrow(refusal);
  });

  test('a row of 400 KB is the largest', async () => {
    const row = (bytes: number): Item => ({ id: { S: 'row' }, body: { S: 'x'.repeat(bytes - 9) } });
    await put('deduplication', row(409_600));
    await expect(put('deduplication', row(409_601))).rejects.toThrow('Item size has exceeded');
    await expect(
      call('UpdateItem', {
        TableName: 'deduplication',
        Key: { id: { S: 'row' } },
        UpdateExpression: 'SET more = :v',
        ExpressionAttributeValues: { ':v': { S: 'x' } },
      }),
    ).rejects.toThrow('Item size to update has exceeded the maximum allowed size');
  });

  test.each([
    ['lanes', { lane: { S: 'p' }, part: { S: 'a' }, name: { S: '' } }, 'IndexName: names, IndexKey: name'],
    ['lanes', { lane: { S: 'p' }, part: { S: 'a' }, name: { S: 'x'.repeat(1_025) } }, 'Aggregated size'],
    ['messages', { shard: { S: '' }, id: { S: 'a' } }, 'cannot contain an empty string value. Key: shard'],
    ['messages', { shard: { S: 'x'.repeat(2_049) }, id: { S: 'a' } }, 'Size of hashkey'],
    ['messages', { shard: { S: 'p' } }, 'Missing the key id in the item'],
    ['messages', { shard: { S: 'p' }, id: { N: '1' } }, 'Type mismatch for key id expected: S actual: N'],
    ['absent', { id: { S: 'a' } }, 'Requested resource not found'],
  ])('a wrong row of %s is refused', async (TableName, Item, refusal) => {
    await expect(call('PutItem', { TableName, Item })).rejects.toThrow(refusal);
  });

  test('units are those of the table and of each index that a write changes', async () => {
    const units = async (Item: Item): Promise<unknown> => {
      const answer = await call('PutItem', { TableName: 'dlq', Item, ReturnConsumedCapacity: 'INDEXES' });
      return z.object({ ConsumedCapacity: z.unknown() }).parse(answer).ConsumedCapacity;
    };
    const row = (rest: Item): Item => ({ shard: { S: 'p' }, id: { S: 'a' }, ...rest });
    const body = { S: 'x'.repeat(2_000) };
    const used = (table: number, present?: number) => ({
      TableName: 'dlq',
      CapacityUnits: table + (present ?? 0),
      Table: { CapacityUnits: table },
      ...(present !== undefined && { GlobalSecondaryIndexes: { present: { CapacityUnits: present } } }),
    });
    expect(await units(row({ body }))).toEqual(used(2));
    expect(await units(row({ body, presentSince: { N: '1' } }))).toEqual(used(2, 1));
    // The body is not in the index.
    expect(await units(row({ presentSince: { N: '1' } }))).toEqual(used(2));
    expect(await units(row({ presentSince: { N: '1' }, dlqExpiresAt: { N: '5' } }))).toEqual(used(1, 1));
    expect(await units(row({ presentSince: { N: '2' } }))).toEqual(used(1, 2));
    expect(await units(row({}))).toEqual(used(1, 1));
  });

  test('attributes may have names of members of every object', async () => {
    const text = '{"id":{"S":"a"},"__proto__":{"M":{"__proto__":{"N":"1"}}},"constructor":{"S":"c"}}';
    await call('PutItem', anObject.parse(JSON.parse(`{"TableName":"deduplication","Item":${text}}`)));
    const answer = await call('GetItem', { TableName: 'deduplication', Key: { id: { S: 'a' } } });
    expect(JSON.stringify(answer)).toBe(`{"Item":${text}}`);
    const missing = await call('GetItem', {
      TableName: 'deduplication',
      Key: { id: { S: 'a' } },
      ProjectionExpression: '#t',
      ExpressionAttributeNames: { '#t': 'toString' },
    });
    expect(missing).toEqual({ Item: {} });
  });
});
