import { mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
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

test('the data of the previous release are refused with the commands that move them', async () => {
  writeFileSync(join(folder, 'dynamodb.db'), '');
  await expect(openDataDirectory(folder)).rejects.toThrow(
    /svc-queue backup moved\.tar\.gz .* svc-queue restore moved\.tar\.gz/,
  );
});
