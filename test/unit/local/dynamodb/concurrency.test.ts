import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import type { HandOver } from '../../../../local/aws/handOver.ts';
import { handOverTo } from '../../../../local/dynamodb/dynamodb.ts';
import { Rows } from '../../../../local/dynamodb/rows.ts';
import { Store } from '../../../../local/store/store.ts';

/** A disk that reports its writes some time after they are visible. */
class LateStore extends Store {
  override async committed(): Promise<void> {
    await super.committed();
    await sleep(3);
  }
}

const stores = {
  'a fast disk': () => new Store(undefined),
  'a disk that tells of its writes late': () => new LateStore(undefined),
};

const table = { TableName: 'usage' };
const key = (id: string) => ({ owner: { S: 'owner' }, id: { S: id } });
const counted = z.object({ n: z.object({ N: z.string() }) });
const answered = z.object({ Attributes: counted });
const got = z.object({ Item: z.optional(counted) });
const queried = z.object({ Items: z.array(counted) });

const times = <Result>(count: number, make: (at: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => make(at)));
const isRefused = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ConditionalCheckFailedException';

describe.each(Object.entries(stores))('on %s', (_name, makeStore) => {
  let store: Store;
  let call: HandOver;
  const failures: unknown[] = [];
  beforeEach(() => {
    store = makeStore();
    call = handOverTo(new Rows(store), (error) => failures.push(error));
  });
  afterEach(async () => {
    await store.close();
    expect(failures.splice(0)).toEqual([]);
  });

  const add = async (id: string): Promise<number> => {
    const answer = await call('UpdateItem', {
      ...table,
      Key: key(id),
      UpdateExpression: 'ADD n :one',
      ExpressionAttributeValues: { ':one': { N: '1' } },
      ReturnValues: 'ALL_NEW',
    });
    return Number(answered.parse(answer).Attributes.n.N);
  };
  const get = async (id: string): Promise<number> =>
    Number(got.parse(await call('GetItem', { ...table, Key: key(id), ConsistentRead: true })).Item?.n.N ?? 0);
  const query = async (): Promise<number> => {
    const { Items } = queried.parse(
      await call('Query', {
        ...table,
        KeyConditionExpression: '#owner = :owner',
        ExpressionAttributeNames: { '#owner': 'owner' },
        ExpressionAttributeValues: { ':owner': { S: 'owner' } },
        Limit: 1,
      }),
    );
    return Number(Items[0]?.n.N ?? 0);
  };

  test('lets others work between long pages', async () => {
    await times(60, (at) => add(String(at).padStart(2, '0')));
    const turns: number[] = [];
    const turn = setInterval(() => turns.push(1), 1);
    for (let pages = 0; pages < 10 || turns.length === 0; pages += 1) {
      expect(pages).toBeLessThan(100_000);
      await call('Scan', table);
    }
    clearInterval(turn);
  });

  test('one of many first writes succeeds, and the row can be read at once by those that were refused', async () => {
    const put = (at: number) =>
      call('PutItem', {
        ...table,
        Item: { ...key('first'), n: { N: String(at) } },
        ConditionExpression: 'attribute_not_exists(id)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      });
    const results = await times(20, async (at) => {
      await sleep(at % 4);
      try {
        await put(at);
        return { won: at };
      } catch (error) {
        if (!isRefused(error)) throw error;
        return { readAfterRefusal: await get('first') };
      }
    });
    const winners = results.flatMap(({ won }) => won ?? []);
    expect(winners).toHaveLength(1);
    for (const { readAfterRefusal } of results) {
      if (readAfterRefusal !== undefined) expect(readAfterRefusal).toBe(winners[0]);
    }
  });

  test('no addition is lost, and each answers a different number', async () => {
    const answers = await times(50, async (at) => {
      await sleep(at % 5);
      return add(`row${at % 2}`);
    });
    expect(answers.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 50 }, (_, at) => Math.floor(at / 2) + 1),
    );
    expect(await get('row0')).toBe(25);
  });

  test('reads of any kind see each write that was answered before, and never go back', async () => {
    let answeredUntil = 0;
    const done = new AbortController();
    const writing = times(4, async () => {
      for (let round = 0; round < 15; round += 1) answeredUntil = Math.max(answeredUntil, await add('row'));
    }).finally(() => {
      done.abort();
    });
    const reading = times(3, async (reader) => {
      let seen = 0;
      for (let round = 0; !done.signal.aborted; round += 1) {
        const before = Math.max(answeredUntil, seen);
        seen = await ((round + reader) % 2 === 0 ? get('row') : query());
        expect(seen).toBeGreaterThanOrEqual(before);
        if (round % 3 === 0) await sleep(1);
      }
    });
    await Promise.all([writing, reading]);
    expect(answeredUntil).toBe(60);
    expect(await get('row')).toBe(60);
  });

  test('a row that a read has not found stays deleted in all later reads', async () => {
    for (let round = 0; round < 5; round += 1) {
      await call('PutItem', { ...table, Item: { ...key('row'), n: { N: '1' } } });
      const done = new AbortController();
      const deleting = call('DeleteItem', { ...table, Key: key('row') }).finally(() => {
        done.abort();
      });
      let seen = 1;
      for (let read = 0; !done.signal.aborted; read += 1) {
        const found = await (read % 2 === 0 ? query() : get('row'));
        expect(found).toBeLessThanOrEqual(seen);
        seen = found;
        await immediate();
      }
      await deleting;
      expect([await get('row'), await query()]).toEqual([0, 0]);
    }
  });

  test('a row that is deleted and created at once appears once or not at all', async () => {
    await times(30, async (at) => {
      await sleep(at % 3);
      if (at % 2 === 0) await call('DeleteItem', { ...table, Key: key('row') });
      else await call('PutItem', { ...table, Item: { ...key('row'), n: { N: '1' } } });
      expect([0, 1]).toContain(await query());
    });
    expect(await query()).toBe(await get('row'));
  });

  test('each version is written by exactly one of the writers that know the one before', async () => {
    await call('PutItem', { ...table, Item: { ...key('row'), n: { N: '0' } } });
    let taken = 0;
    await times(6, async () => {
      for (let version = await get('row'); version < 20; version = await get('row')) {
        try {
          await call('UpdateItem', {
            ...table,
            Key: key('row'),
            UpdateExpression: 'SET n = :next',
            ConditionExpression: 'n = :known',
            ExpressionAttributeValues: {
              ':next': { N: String(version + 1) },
              ':known': { N: String(version) },
            },
          });
          taken += 1;
        } catch (error) {
          if (!isRefused(error)) throw error;
        }
      }
    });
    expect(taken).toBe(20);
  });
});
