/** Backs up and restores a data directory. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { link, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { flushFile, flushFolder } from '../durable.ts';
import { openDataDirectory } from '../stage/dataDirectory.ts';
import { StageError, isSystemError } from '../stage/stageError.ts';
import { markUsed, noteKill, openStore } from '../store/openStore.ts';
import { readArchive, type Description } from './archive.ts';
import { isOfBefore, refusalOf } from './before/folder.ts';
import { Filler } from './contents.ts';
import { askForBackup } from './control.ts';
import { following, needed, requireData, restoring, secretNames, storeName } from './files.ts';
import { writeBackup } from './writeBackup.ts';

export interface Made extends Description {
  /** The number of rows, messages, schedules and objects. */
  readonly entries: number;
}

/**
 * Writes a backup to a file, completely or not at all. A stage may be using the directory.
 *
 * @param replaces whether an existing file is replaced
 * @returns the description, read back from the file
 * @throws StageError
 */
export async function backUp(folder: string, file: string, replaces = false): Promise<Made> {
  const write = await writerOf(folder);
  const target = resolve(file);
  if (!replaces && existsSync(target)) throw taken(target);
  // The name is random and the file must not exist, because other users may write to the folder.
  const part = join(dirname(target), `.${basename(target)}.${randomBytes(12).toString('hex')}.part`);
  try {
    await write((await open(part, 'wx', 0o600)).createWriteStream());
    const made = await readBack(createReadStream(part));
    flushFile(part);
    if (replaces) await rename(part, target);
    else await nameNew(part, target);
    flushFolder(dirname(target));
    return made;
  } catch (error) {
    await rm(part, { force: true });
    throw explained(error, target);
  }
}

/**
 * Writes a backup to a stream, and checks it by reading it back. Does not end the stream.
 *
 * @returns the description
 * @throws StageError; what was written is then incomplete
 */
export async function streamBackup(folder: string, to: Writable): Promise<Made> {
  const write = await writerOf(folder);
  const [source, copy] = [new PassThrough(), new PassThrough()];
  const over = new AbortController();
  const { signal } = over;
  try {
    const [made] = await Promise.all([
      readBack(copy),
      write(source),
      pipeline(source, (chunks: AsyncIterable<Buffer>) => copied(chunks, copy, signal), to, {
        end: false,
        signal,
      }),
    ]);
    return made;
  } catch (error) {
    over.abort();
    throw explained(error, 'the standard output');
  }
}

async function* copied(
  chunks: AsyncIterable<Buffer>,
  copy: Writable,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    if (!copy.write(chunk)) await once(copy, 'drain', { signal });
    yield chunk;
  }
  copy.end();
}

/** Counts the entries of a backup, and checks that it is complete. */
async function readBack(from: Readable): Promise<Made> {
  let entries = 0;
  const about = await readArchive(from, {
    file: async (_name, content) => {
      for await (const _part of content);
    },
    line: () => {
      entries += 1;
      return Promise.resolve();
    },
  });
  return { ...about, entries };
}

/** @throws StageError if the folder cannot be backed up */
export async function checkFolder(data: string): Promise<void> {
  const refusal = await refusalOf(data);
  if (refusal !== undefined) throw new StageError(refusal);
  requireData(data);
}

async function writerOf(folder: string): Promise<(to: Writable) => Promise<void>> {
  const data = resolve(folder);
  await checkFolder(data);
  return async (to) => {
    const running = await askForBackup(data);
    if (running !== undefined) await pipeline(running, to);
    else await backUpUnused(data, to);
  };
}

const taken = (file: string): StageError =>
  new StageError(`${file} exists already: choose another name, or replace it with --force.`);

/** Gives a file its name, unless another process has just created a file of that name. */
async function nameNew(part: string, target: string): Promise<void> {
  try {
    await link(part, target);
    await rm(part);
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) throw taken(target);
    // Some file systems have no links. There, another process may create the file between the check and the
    // renaming.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].some((code) => isSystemError(error, code))) throw error;
    if (existsSync(target)) throw taken(target);
    await rename(part, target);
  }
}

/** Codes of system errors that mean that a file or stream cannot be created or written. */
const unwritable = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'EPIPE'];

export const explained = (error: unknown, target: string): unknown =>
  error instanceof Error && unwritable.some((code) => isSystemError(error, code))
    ? new StageError(`The backup cannot be written to ${target}: ${error.message}`, { cause: error })
    : error;

/** Backs up a directory that no stage uses. Locks it, so that no stage starts. */
async function backUpUnused(folder: string, to: Writable): Promise<void> {
  const { store, release } = await openDataDirectory(folder);
  try {
    await writeBackup(folder, store, to);
  } finally {
    await release();
  }
}

/**
 * Restores a backup into a data directory without data.
 *
 * @param from a file or a stream
 * @throws StageError; the directory is then unchanged
 */
export async function restore(from: string | Readable, folder: string): Promise<Made> {
  const data = resolve(folder);
  const unfinished = join(data, restoring);
  // An earlier restore was interrupted: it moved some files, but not the store.
  const wasInterrupted = existsSync(unfinished) && !existsSync(join(data, storeName));
  if (!wasInterrupted) checkEmpty(data, following);
  const source = await sourceOf(from);
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  const { store } = await openStore(join(unfinished, storeName), false);
  try {
    const filler = new Filler(store);
    const about = await unpack(source, unfinished, filler);
    await markUsed(store);
    // As if the stage had been killed: it was running when the backup was made.
    await noteKill(store, Date.parse(about.madeAt));
    await store.close();
    await moveInto(unfinished, data);
    return { ...about, entries: filler.entries };
  } catch (error) {
    await store.close();
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}

/** @throws StageError if the file cannot be read */
export async function sourceOf(from: string | Readable): Promise<Readable> {
  if (from instanceof Readable) return from;
  const file = await open(resolve(from), 'r').catch((error: unknown) => {
    throw new StageError(
      `The backup ${from} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  return file.createReadStream();
}

/**
 * Reads a whole backup: secrets into files of a folder, the other lines into a store.
 *
 * @throws StageError
 */
export async function unpack(source: Readable, folder: string, filler: Filler): Promise<Description> {
  const taken = new Set<string>();
  const about = await readArchive(source, {
    file: async (name, content) => {
      if (!secretNames.some((known) => known === name))
        throw new StageError(`The backup has ${name}, which is not from a stage.`);
      const path = join(folder, name);
      await pipeline(content, createWriteStream(path, { mode: 0o600 }));
      flushFile(path);
      taken.add(name);
    },
    line: (text) => filler.take(text),
  });
  await filler.flush();
  const missing = secretNames.find((name) => !taken.has(name));
  if (missing !== undefined) throw new StageError(`The backup is not whole: it has no ${missing}.`);
  return about;
}

/** @throws StageError if a directory has data, or an unfinished restore of the other kind */
export function checkEmpty(data: string, other: string): void {
  if (!isOfBefore(data) && ![...needed, other].some((name) => existsSync(join(data, name)))) return;
  throw new StageError(`${data} has data already: move it away, or choose another folder with --data-dir.`);
}

/**
 * Moves all files into place, the store last, because a directory without a store counts as empty. If this is
 * interrupted, a repetition moves the rest.
 */
export async function moveInto(from: string, data: string): Promise<void> {
  for (const name of needed)
    if (existsSync(join(from, name))) await rename(join(from, name), join(data, name));
  flushFolder(data);
  await rm(from, { recursive: true });
}
