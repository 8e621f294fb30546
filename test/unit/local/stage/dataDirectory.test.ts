import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDataDirectory } from '../../../../local/stage/dataDirectory.ts';
import { startAgain } from '../../../support/powerCut/journals.ts';

const hourMs = 3_600_000;

/** A data directory that a stage has used, whose files were last changed five hours ago. */
async function usedFolder(): Promise<{ readonly folder: string; readonly changedAt: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-data-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const data = await openDataDirectory(folder);
  data.secret('master-secret');
  data.secret('management-password');
  data.release();
  const changedAt = Math.floor(Date.now() / 1000) * 1000 - 5 * hourMs;
  writeFileSync(join(folder, 'dynamodb.db'), '');
  for (const name of ['master-secret', 'management-password', 'dynamodb.db'])
    utimesSync(join(folder, name), changedAt / 1000, changedAt / 1000);
  return { folder, changedAt };
}

/** Leaves the directory as a machine that loses its power does. */
async function losePower(folder: string): Promise<void> {
  await openDataDirectory(folder);
  startAgain(folder);
}

test('a loss of power is noted with the time of the last change, until all was looked at', async () => {
  const { folder, changedAt } = await usedFolder();
  await losePower(folder);
  const first = await openDataDirectory(folder);
  expect(first.unchecked).toEqual({ reason: 'power', writtenAt: changedAt });
  // It dies while it looks, after it has changed the data.
  writeFileSync(join(folder, 'dynamodb.db'), 'changed');
  first.release();
  const second = await openDataDirectory(folder);
  expect(second.unchecked).toEqual({ reason: 'power', writtenAt: changedAt });
  second.lacksEntries();
  expect(second.unchecked).toEqual({ reason: 'journals', writtenAt: changedAt });
  second.release();
  const third = await openDataDirectory(folder);
  expect(third.unchecked?.reason).toBe('journals');
  third.checked();
  expect(third.unchecked).toBeUndefined();
  third.release();
  expect((await openDataDirectory(folder)).unchecked).toBeUndefined();
});

test('a new directory has nothing to look for, though it has no journals', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-data-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const data = await openDataDirectory(folder);
  data.lacksEntries();
  expect(data.unchecked).toBeUndefined();
});
