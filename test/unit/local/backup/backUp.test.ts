import {
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { backUp, restore, streamBackup } from '../../../../local/backup/backUp.ts';
import { openDataDirectory } from '../../../../local/stage/dataDirectory.ts';

let folder: string;
let data: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-backup-'));
  data = join(folder, 'data');
  const opened = await openDataDirectory(data);
  for (const name of ['master-secret', 'management-password']) opened.secret(name);
  await opened.begin();
  await opened.release();
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('a backup to a folder that others may write to', () => {
  it('is not written to files that they prepared there', async () => {
    const victim = join(folder, 'victim');
    writeFileSync(victim, 'not to be overwritten');
    const shared = join(folder, 'shared');
    mkdirSync(shared);
    symlinkSync(victim, join(shared, '.backup.tgz.part'));
    const file = join(shared, 'backup.tgz');
    // Another user’s file that everyone may read. Its permissions would apply to the secrets.
    writeFileSync(file, '', { mode: 0o666 });
    const { entries } = await backUp(data, file, true);
    expect(entries).toBe(0);
    expect(readFileSync(victim, 'utf8')).toBe('not to be overwritten');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(shared).sort()).toEqual(['.backup.tgz.part', 'backup.tgz']);
  });
});

describe('a backup', () => {
  it('replaces no file unless it may', async () => {
    const file = join(folder, '東京.tgz');
    writeFileSync(file, 'the backup of yesterday');
    const refusal = `${file} exists already: choose another name, or replace it with --force.`;
    await expect(backUp(data, file)).rejects.toThrow(refusal);
    expect(readFileSync(file, 'utf8')).toBe('the backup of yesterday');
    await backUp(data, file, true);
    await restore(file, join(folder, 'other'));
    expect(readdirSync(folder).sort()).toEqual(['data', 'other', '東京.tgz']);
  });

  it('keeps a file that gets the name while it is made', async () => {
    const file = join(folder, 'backup.tgz');
    const refused = expect(backUp(data, file)).rejects.toThrow(`${file} exists already`);
    while (!readdirSync(folder).some((name) => name.endsWith('.part'))) await setImmediate();
    writeFileSync(file, 'of another process');
    await refused;
    expect(readFileSync(file, 'utf8')).toBe('of another process');
    expect(readdirSync(folder).sort()).toEqual(['backup.tgz', 'data']);
  });

  it('can be written to a stream, and be read from one', async () => {
    const through = new PassThrough();
    const other = join(folder, 'other');
    const [written, read] = await Promise.all([
      streamBackup(data, through).finally(() => through.end()),
      restore(through, other),
    ]);
    expect(written).toEqual(read);
    expect(readFileSync(join(other, 'master-secret'))).toEqual(readFileSync(join(data, 'master-secret')));
  });

  it('to a stream that ends early has failed', async () => {
    const closed = new PassThrough();
    closed.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    closed.on('error', () => undefined);
    await expect(streamBackup(data, closed)).rejects.toThrow();
  });
});

it('a file whose description has no end is not a backup, and is not read into memory', async () => {
  const file = join(folder, 'endless.tgz');
  const archive = pack();
  archive.entry({ name: 'backup.json' }, Buffer.alloc(50_000_000, 32));
  archive.finalize();
  await pipeline(archive, createGzip(), createWriteStream(file));
  await expect(restore(file, join(folder, 'other'))).rejects.toThrow('This is not a backup of a stage');
});
