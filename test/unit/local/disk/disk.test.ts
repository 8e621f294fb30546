import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { Disk, diskSentence } from '../../../../local/disk/disk.ts';

let folder = '';
let disk: Disk | undefined;
afterEach(async () => {
  disk?.close();
  await rm(folder, { recursive: true, force: true });
});

async function watch(path?: string) {
  folder = await mkdtemp(join(tmpdir(), 'svc-disk-'));
  const said: string[] = [];
  disk = new Disk({
    folder: path ?? folder,
    announce: (sentence) => void said.push(sentence),
    report: (error) => void said.push(error instanceof Error ? error.message : String(error)),
  });
  return { disk, said };
}

const systemError = (code: string): Error => Object.assign(new Error('It failed.'), { code });

test.each([
  [systemError('ENOSPC'), /^The disk of \/data is full\. Accepted messages are kept;/],
  [new Error('No space left on device'), /^The disk of \/data is full\./],
  [systemError('EROFS'), /^\/data cannot be written\./],
  [new Error('Read-only file system'), /^\/data cannot be written\./],
  [systemError('EIO'), /^The disk of \/data fails: make a backup,/],
  [
    'The store is damaged: an entry differs from what was written.',
    /^The store in \/data is damaged\. Stop the service,/,
  ],
])('%s is reported in a sentence', (error, sentence) => {
  expect(diskSentence(error, '/data')).toMatch(sentence);
});

test('an error that is not the disk’s is passed on, each time', async () => {
  const { disk: watched, said } = await watch();
  watched.report(systemError('ECONNRESET'));
  watched.report(systemError('ECONNRESET'));
  expect(said).toEqual(['It failed.', 'It failed.']);
  expect(await watched.trouble()).toBeUndefined();
});

test('trouble is reported once however many calls fail, and again if its kind changes', async () => {
  const { disk: watched, said } = await watch();
  for (let at = 0; at < 5; at += 1) watched.report(systemError('ENOSPC'));
  watched.report(systemError('EROFS'));
  expect(said.map((sentence) => sentence.replace(folder, '/data'))).toEqual([
    'The disk of /data is full. Accepted messages are kept; the service continues when there is room.',
    '/data cannot be written. Accepted messages are kept; the service continues when it can be written.',
  ]);
});

test('a damaged store stays in trouble, and a missing folder is named', async () => {
  const { disk: watched } = await watch();
  expect(watched.failed('MDB_CORRUPTED: Located page was wrong type')).toBe(true);
  expect(await watched.trouble()).toContain('is damaged');
  const file = join(folder, 'file');
  await writeFile(file, '');
  const other = new Disk({ folder: file, announce: () => undefined, report: () => undefined });
  expect(await other.trouble()).toMatch(/file cannot be used: ENOTDIR/);
});
