import { mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { Rows } from '../../../../local/dynamodb/rows.ts';
import { keyOf, tableNamed } from '../../../../local/dynamodb/table.ts';
import { openDataDirectory } from '../../../../local/stage/dataDirectory.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-data-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
});

async function use(): Promise<void> {
  const data = await openDataDirectory(folder);
  data.secret('management-password');
  data.secret('master-secret');
  await data.begin();
  data.store.write(Buffer.from('x'), Buffer.from('kept'));
  await data.release();
}

test('a directory is opened again with its contents', async () => {
  await use();
  const data = await openDataDirectory(folder);
  expect(data.store.get(Buffer.from('x'))?.toString()).toBe('kept');
  await data.release();
});

test.each(['store.mdb', 'store.mdb.new'])(
  'a first start that was killed is completed by the next: %s',
  async (left) => {
    const data = await openDataDirectory(folder);
    if (left === 'store.mdb') data.secret('management-password');
    await data.release();
    if (left !== 'store.mdb') {
      renameSync(join(folder, 'store.mdb'), join(folder, left));
      truncateSync(join(folder, left), 4_000);
    }
    await use();
  },
);

test.each([
  [
    'missing',
    'store.mdb',
    () => {
      rmSync(join(folder, 'store.mdb'));
    },
    /store\.mdb in .* is missing/,
  ],
  [
    'emptied',
    'store.mdb',
    () => {
      truncateSync(join(folder, 'store.mdb'));
    },
    /is empty/,
  ],
  [
    'emptied, with the secrets lost',
    'store.mdb',
    () => {
      truncateSync(join(folder, 'store.mdb'));
      rmSync(join(folder, 'master-secret'));
    },
    /is empty/,
  ],
  [
    'without its master secret',
    'master-secret',
    () => {
      rmSync(join(folder, 'master-secret'));
    },
    /has data, but no master-secret/,
  ],
])('data that are %s never start as new ones', async (_state, _name, damage, sentence) => {
  await use();
  damage();
  const open = async (): Promise<void> => {
    const data = await openDataDirectory(folder);
    try {
      data.secret('master-secret');
    } finally {
      await data.release();
    }
  };
  await expect(open()).rejects.toThrow(sentence);
  // The refusal has changed nothing.
  await expect(open()).rejects.toThrow(sentence);
});

test('two stores in a folder are refused, and each is named with what it has', async () => {
  const ids = ['msg_01M8CFS57HBSQW2R9CV43CGDY1', 'msg_01M8CFS57HBSQW2R9CV43CGDY2'] as const;
  await use();
  // The earlier release has made an empty database beside the data.
  writeFileSync(join(folder, 'dynamodb.db'), 'SQLite format 3');
  const has = async (store: number, database: number): Promise<void> => {
    await expect(openDataDirectory(folder)).rejects.toThrow(
      new RegExp(
        `two stores.*store\\.mdb \\(up to ${store} messages, last written \\d.*dynamodb\\.db \\(up to ${database} messages, last written`,
      ),
    );
  };
  await has(0, 0);
  writeFileSync(join(folder, 'dynamodb.db-wal'), `${'x'.repeat(65_530)}${ids.join(' 東京 ')} ${ids[0]}`);
  await has(0, 2);
  for (const name of ['dynamodb.db', 'dynamodb.db-wal']) rmSync(join(folder, name));
  const { store, release } = await openDataDirectory(folder);
  const rows = new Rows(store);
  const table = tableNamed('messages');
  for (const id of [ids[0], `${ids[0]}#1`, ids[1]]) {
    const row = { shard: { S: '東京#0' }, id: { S: id } };
    await rows.change(table, keyOf(table, row), () => row);
  }
  await release();
  writeFileSync(join(folder, 'dynamodb.db'), 'SQLite format 3');
  await has(2, 0);
  // The refusal has changed nothing.
  await has(2, 0);
});

test('a folder that has only the older database is refused, and the database is named with what it has', async () => {
  writeFileSync(join(folder, 'dynamodb.db'), 'SQLite format 3 msg_01M8CFS57HBSQW2R9CV43CGDY1');
  await expect(openDataDirectory(folder)).rejects.toThrow(
    /only the database of an earlier state of this service: dynamodb\.db \(up to 1 messages, .* cannot read it/,
  );
});
