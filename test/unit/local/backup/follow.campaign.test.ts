import { randomBytes } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { restore } from '../../../../local/backup/backUp.ts';
import { follow } from '../../../../local/backup/follow.ts';
import { standBy } from '../../../../local/backup/standBy.ts';
import { openDataDirectory, type DataDirectory } from '../../../../local/stage/dataDirectory.ts';
import { checkPages } from '../../../../local/store/pages.ts';
import { eventually } from '../../../support/eventually.ts';
import { randomOf } from '../../../support/simulatedClock.ts';
import { digestOf, everything } from '../../../support/store/contents.ts';

/** The store's description, `a`, is before them. */
const entries = { ...everything, from: Buffer.from('k') };
const keyOf = (number: number): Buffer => Buffer.from(`key 東京 ${number}`);

let home: string;
let folder: string;
let stage: DataDirectory;
const opened: DataDirectory[] = [];

async function open(name: string): Promise<DataDirectory> {
  const data = await openDataDirectory(join(home, name));
  for (const secret of ['master-secret', 'management-password']) data.secret(secret);
  await data.begin();
  opened.push(data);
  return data;
}

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'svc-follow-'));
  folder = join(home, 'folder');
  stage = await open('data');
});
afterEach(async () => {
  for (const data of opened.splice(0)) await data.release();
  rmSync(home, { recursive: true, force: true });
});

async function write(number: number, value: Buffer | undefined): Promise<void> {
  stage.store.write(keyOf(number), value);
  await stage.store.committed();
}

const once = AbortSignal.abort();

/** @returns the sentence that it announces */
async function followOnce(dataDirectory = stage.folder, to = folder): Promise<readonly string[]> {
  const said: string[] = [];
  await follow({ dataDirectory, folder: to, everyMs: 1, signal: once, announce: (text) => said.push(text) });
  return said;
}

async function restoreOnce(name: string, from = folder): Promise<readonly string[]> {
  const said: string[] = [];
  await standBy({
    dataDirectory: join(home, name),
    folder: from,
    signal: once,
    announce: (text) => said.push(text),
  });
  return said;
}

const files = (): readonly string[] => readdirSync(folder).toSorted();
const last = (): string => join(folder, files().at(-1) ?? '');

/** Reads a directory that no stage has used. */
async function contentsOf(name: string): Promise<string> {
  const file = join(home, name, 'store.mdb');
  expect(await checkPages(file, { limitMs: Infinity })).toBeUndefined();
  const data = await openDataDirectory(join(home, name));
  try {
    data.store.checkSum();
    return digestOf(data.store.range(entries));
  } finally {
    await data.release();
  }
}

const now = (): string => {
  stage.store.refresh();
  return digestOf(stage.store.range(entries));
};

describe('a standby', () => {
  it.each([1, 2, 3])('has all entries of each moment (seed %i)', async (seed) => {
    const random = randomOf(seed);
    const below = (end: number): number => Math.floor(random() * end);
    const ended = new AbortController();
    const said: string[] = [];
    const standing = standBy({
      dataDirectory: join(home, 'standby'),
      folder,
      signal: ended.signal,
      announce: (text) => said.push(text),
    });
    for (let round = 0; round < 25; round += 1) {
      for (let transaction = below(4); transaction >= 0; transaction -= 1) {
        const count = round === 0 ? 2_000 : below(200);
        for (let at = 0; at < count; at += 1) {
          const bytes = [300, 300, 300, 9_000, 100_000][at % 40 === 0 ? below(5) : 0] ?? 0;
          const value = random() < 0.4 ? undefined : Buffer.alloc(below(bytes), `${random()}`);
          stage.store.write(keyOf(below(4_000)), value);
        }
        await stage.store.committed();
      }
      await followOnce();
      if (round % 6 !== 5) continue;
      await restoreOnce(`copy ${round}`);
      expect(await contentsOf(`copy ${round}`)).toBe(now());
    }
    await eventually(
      () => Promise.resolve(said),
      (lines) => lines.some((line) => line.includes('has the base of')),
    );
    ended.abort();
    await standing;
    expect(await contentsOf('standby')).toBe(now());
    expect(files()).toHaveLength(25);
    expect(said.at(-1)).toBe(`Start it: svc-queue start --data-dir ${join(home, 'standby')}`);
  });

  it('of an empty store is empty, and its files are only for their owner', async () => {
    await followOnce();
    await restoreOnce('copy');
    expect(await contentsOf('copy')).toBe(now());
    const copy = join(home, 'copy');
    for (const secret of ['master-secret', 'management-password'])
      expect(readFileSync(join(copy, secret))).toEqual(readFileSync(join(stage.folder, secret)));
    for (const name of ['store.mdb', 'master-secret', 'management-password'])
      expect([name, statSync(join(copy, name)).mode & 0o077]).toEqual([name, 0]);
    expect([statSync(folder).mode & 0o077, statSync(last()).mode & 0o077]).toEqual([0, 0]);
  });

  it('keeps its last whole state if a file is damaged anywhere, cut off, missing or of another store', async () => {
    await write(1, Buffer.from('one'));
    await followOnce();
    const [before, base] = [now(), last()];
    await write(2, randomBytes(3_000));
    await followOnce();
    const [changed, bytes] = [last(), readFileSync(last())];
    const tried: string[] = [];
    const attempt = async (content: Buffer, sentence: RegExp): Promise<void> => {
      writeFileSync(changed, content);
      const name = `copy ${tried.push('')}`;
      const [, , refusal = '', ...others] = await restoreOnce(name);
      expect(refusal).toMatch(sentence);
      expect(others.at(-1)).toMatch(/^Start it/);
      expect(await contentsOf(name)).toBe(before);
    };
    const step = Math.ceil(bytes.length / 25);
    for (let at = 0; at < bytes.length; at += step) {
      const bent = Buffer.from(bytes);
      bent[at] = (bent[at] ?? 0) ^ 0x10;
      await attempt(bent, /is damaged or not whole/);
      await attempt(bytes.subarray(0, at), /is damaged or not whole/);
    }
    await attempt(readFileSync(base), /000001\.changes in \S+ does not follow the files before it/);
    expect(tried.length).toBeGreaterThan(40);

    // A process that is following ends, and says what to do.
    writeFileSync(changed, bytes.subarray(1));
    const signal = new AbortController().signal;
    const dataDirectory = join(home, 'standby');
    await expect(standBy({ dataDirectory, folder, signal, announce: () => undefined })).rejects.toThrow(
      `${changed} is damaged or not whole.`,
    );
    await expect(openDataDirectory(dataDirectory)).rejects.toThrow(
      'was interrupted: run svc-queue restore again',
    );
    await expect(restore(base, dataDirectory)).rejects.toThrow('has data already');
    await write(3, Buffer.from('three'));
    writeFileSync(changed, bytes);
    await followOnce();
    rmSync(changed);
    await expect(standBy({ dataDirectory, folder, signal, announce: () => undefined })).rejects.toThrow(
      'is missing',
    );
    writeFileSync(changed, bytes);
    await restoreOnce('standby');
    expect(await contentsOf('standby')).toBe(now());
  });

  it('ends completely after a kill at any of its last steps', async () => {
    await write(1, Buffer.from('one'));
    await followOnce();
    const dataDirectory = join(home, 'standby');
    const unfinished = join(dataDirectory, 'following');
    const ended = new AbortController();
    const standing = standBy({ dataDirectory, folder, signal: ended.signal, announce: () => undefined });
    await eventually(
      () => Promise.resolve(existsSync(join(unfinished, 'last'))),
      (isThere) => isThere,
    );
    const followed = join(home, 'followed');
    cpSync(unfinished, followed, { recursive: true });
    ended.abort();
    await standing;
    const names = ['master-secret', 'management-password', 'store.mdb'];
    // The last step removes the folder, file by file.
    for (let step = 0; step <= names.length + 1; step += 1) {
      const data = join(home, `killed ${step}`);
      const inside = join(data, 'following');
      cpSync(followed, inside, { recursive: true });
      for (const name of names.slice(0, 2)) cpSync(join(dataDirectory, name), join(inside, name));
      cpSync(join(inside, 'last'), join(inside, 'ended'));
      rmSync(join(inside, 'last'));
      for (const name of names.slice(0, step)) renameSync(join(inside, name), join(data, name));
      if (step > names.length) rmSync(join(inside, 'ended'));
      await expect(openDataDirectory(data)).rejects.toThrow('was interrupted');
      expect((await restoreOnce(`killed ${step}`)).at(-1)).toMatch(/^Start it/);
      expect(existsSync(inside)).toBe(false);
      expect(await contentsOf(`killed ${step}`)).toBe(now());
    }
    // Interrupted while it applies a file, which is then applied again.
    const data = join(home, 'killed');
    cpSync(followed, join(data, 'following'), { recursive: true });
    cpSync(last(), join(data, 'following/next'));
    writeFileSync(join(data, 'following/store.mdb.new'), randomBytes(20_000));
    await restoreOnce('killed');
    expect(await contentsOf('killed')).toBe(now());
  });

  it('is refused where it would do harm', async () => {
    await expect(restoreOnce('copy')).rejects.toThrow(`${folder} has no base yet.`);
    await expect(followOnce(join(home, 'nothing'))).rejects.toThrow('is not the data directory of a stage');
    await followOnce();
    const other = await open('other');
    await expect(followOnce(other.folder)).rejects.toThrow(`${folder} is of another stage`);
    await expect(restoreOnce('other')).rejects.toThrow('already uses');
    await other.release();
    opened.splice(opened.indexOf(other), 1);
    await expect(restoreOnce('other')).rejects.toThrow('has data already');
    writeFileSync(last(), Buffer.concat([readFileSync(last()), Buffer.from('.')]));
    await expect(restoreOnce('copy')).rejects.toThrow('has no base yet');
    expect(existsSync(join(home, 'copy', 'following'))).toBe(false);
  });

  it('continues with a new base after the stage was replaced by its standby', async () => {
    await write(1, Buffer.from('one'));
    await followOnce();
    cpSync(folder, join(home, 'earlier'), { recursive: true });
    await write(2, Buffer.from('lost'));
    await followOnce();
    await stage.release();
    opened.length = 0;
    await restoreOnce('copy', join(home, 'earlier'));
    stage = await openDataDirectory(join(home, 'copy'));
    opened.push(stage);
    for (let at = 3; at < 20; at += 1) await write(at, Buffer.from('later'));
    const [line = ''] = await followOnce();
    expect(line).toContain('has a new base');
    expect(files()).toHaveLength(1);
    await restoreOnce('again');
    expect(await contentsOf('again')).toBe(now());
  });
});

describe('a follower', () => {
  it('writes nothing if nothing has changed, but renews the time of the last file', async () => {
    await followOnce();
    const names = files();
    utimesSync(last(), 1, 1);
    await followOnce();
    expect(files()).toEqual(names);
    expect(statSync(last()).mtimeMs).toBeGreaterThan(1_000);
  });

  it('replaces a long chain by a new base, while a standby follows', async () => {
    const ended = new AbortController();
    const dataDirectory = join(home, 'standby');
    const standing = standBy({ dataDirectory, folder, signal: ended.signal, announce: () => undefined });
    await followOnce();
    const said: string[] = [];
    const stopped = new AbortController();
    const following = follow({
      dataDirectory: stage.folder,
      folder,
      everyMs: 1,
      signal: stopped.signal,
      announce: (text) => said.push(text),
    });
    for (let at = 0; said.length < 1; at += 1) {
      const before = last();
      await write(at % 5, randomBytes(3_000_000));
      await eventually(
        () => Promise.resolve(last()),
        (name) => name !== before,
      );
    }
    stopped.abort();
    await following;
    ended.abort();
    await standing;
    expect(await contentsOf('standby')).toBe(now());
    expect(new Set(files().map((name) => name.split('-')[0])).size).toBe(1);
  });

  it('writes a new base if its last file was deleted, and cleans up after a kill', async () => {
    await followOnce();
    await write(1, Buffer.from('one'));
    await followOnce();
    const [base = '', changed = ''] = files();
    rmSync(join(folder, changed));
    writeFileSync(join(folder, '.000000009-000000.changes.part'), 'half');
    // The next chain was published, but not yet its base.
    copyFileSync(join(folder, base), join(folder, '000000002-000001.changes'));
    writeFileSync(join(folder, 'notes.txt'), 'of the operator');
    await followOnce();
    expect(files()).toEqual([base, changed, 'notes.txt']);
    rmSync(join(folder, 'notes.txt'));
    rmSync(last());
    rmSync(last());
    await followOnce();
    expect(files()).toHaveLength(1);
    await restoreOnce('copy');
    expect(await contentsOf('copy')).toBe(now());
  });

  it('ends if another one writes to its folder', async () => {
    const signal = new AbortController().signal;
    const options = { dataDirectory: stage.folder, folder, everyMs: 1, signal, announce: () => undefined };
    await followOnce();
    const refusals: unknown[] = [];
    const both = [follow(options), follow(options)].map((one) =>
      one.catch((error: unknown) => refusals.push(error)),
    );
    for (let at = 0; refusals.length === 0; at += 1) await write(at % 5, randomBytes(100));
    expect(refusals).toEqual([
      expect.objectContaining({
        message: expect.stringMatching(/Another process writes to|cannot be written/) as unknown,
      }),
    ]);
    // The process on the other side ends, too.
    rmSync(join(stage.folder, 'master-secret'));
    await write(9, Buffer.from('nine'));
    await Promise.all(both);
  });

  it('refuses a damaged store', async () => {
    await write(1, randomBytes(50_000));
    await stage.release();
    opened.length = 0;
    const file = join(stage.folder, 'store.mdb');
    const bytes = readFileSync(file);
    for (let at = 8_192 + 2_000; at < bytes.length; at += 4_096) bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    await expect(followOnce()).rejects.toThrow(/^store\.mdb in \S+ is damaged \(/);
    expect(readdirSync(folder)).toEqual([]);
  });
});
