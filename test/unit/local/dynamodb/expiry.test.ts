import { expect, test } from 'vitest';
import { deleteExpired } from '../../../../local/dynamodb/expiry.ts';
import { Rows } from '../../../../local/dynamodb/rows.ts';
import { putItem } from '../../../../local/dynamodb/writes.ts';
import { scan } from '../../../../local/dynamodb/reads.ts';
import { Store } from '../../../../local/store/store.ts';

const nowMs = 1_800_000_000_000;
const seconds = nowMs / 1_000;
const table = { TableName: 'deduplication' };

const put = (rows: Rows, id: string, expiresAt?: number): Promise<object> =>
  putItem(rows, {
    ...table,
    Item: { id: { S: id }, ...(expiresAt !== undefined && { expiresAt: { N: String(expiresAt) } }) },
  });

const ids = (rows: Rows): readonly string[] =>
  (JSON.stringify(scan(rows, table)).match(/(?<="id":{"S":")[a-z0-9]+/g) ?? []).toSorted();

test('expired rows are deleted, and others are kept', async () => {
  const rows = new Rows(new Store(undefined));
  await Promise.all([
    ...Array.from({ length: 1_200 }, (_, at) => put(rows, `past${at}`, seconds - 1 - at)),
    put(rows, 'now', seconds),
    put(rows, 'later', seconds + 1),
    put(rows, 'ever'),
  ]);
  let pauses = 0;
  const pause = (): Promise<void> => {
    pauses += 1;
    return Promise.resolve();
  };
  expect(await deleteExpired({ rows, now: () => nowMs, pause })).toBe(1_200);
  expect(ids(rows)).toEqual(['ever', 'later', 'now']);
  expect(pauses).toBeGreaterThan(5);
});

test('a row that is extended at the same time is kept', async () => {
  const rows = new Rows(new Store(undefined));
  await put(rows, 'extended', seconds - 1);
  // The write is not on the disk when the rows are read.
  const extending = put(rows, 'extended', seconds + 60);
  expect(await deleteExpired({ rows, now: () => nowMs, pause: () => Promise.resolve() })).toBe(0);
  await extending;
  expect(ids(rows)).toEqual(['extended']);
});
