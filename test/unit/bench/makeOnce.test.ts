import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeOnce } from '../../../bench/against/install/makeOnce.ts';

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'svc-once-'));
});
afterEach(() => rm(parent, { recursive: true }));

it('fills a folder only the first time', async () => {
  const folder = join(parent, 'made');
  const fillWith =
    (text: string) =>
    (draft: string): Promise<void> =>
      writeFile(join(draft, 'file'), text);
  expect(await makeOnce(folder, fillWith('first'))).toBe(folder);
  await makeOnce(folder, fillWith('second'));
  expect(await readFile(join(folder, 'file'), 'utf8')).toBe('first');
  expect(await readdir(parent)).toEqual(['made']);
});

it('leaves nothing if the folder cannot be filled', async () => {
  const folder = join(parent, 'made');
  await expect(makeOnce(folder, () => Promise.reject(new Error('no network')))).rejects.toThrow('no network');
  expect(existsSync(folder)).toBe(false);
  expect(await readdir(parent)).toEqual([]);
});
