/** Backs up a data directory, and restores it. */
import { randomBytes } from 'node:crypto';
import { constants, createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { openDataDirectory } from '../stage/dataDirectory.ts';
import { StageError, isSystemError } from '../stage/stageError.ts';
import { readArchive, writeArchive, type Description } from './archive.ts';
import { askForBackup } from './control.ts';
import { bodiesFolder, isFileOfBackup, needed, optional, restoring } from './files.ts';
import { takeSnapshot } from './snapshot.ts';

/**
 * Writes a backup to a file, whole or not at all. A stage that uses the directory goes on.
 *
 * @returns the file's description, read again from what was written
 * @throws StageError
 */
export async function backUp(folder: string, file: string): Promise<Description> {
  const data = resolve(folder);
  const missing = needed.find((name) => !existsSync(join(data, name)));
  if (missing !== undefined)
    throw new StageError(`${data} is no data directory of a stage: it has no ${missing}.`);
  const target = resolve(file);
  // Others may write to the folder too: they cannot guess the name, and what they put there is not written to.
  const part = join(dirname(target), `.${basename(target)}.${randomBytes(12).toString('hex')}.part`);
  try {
    const to = (await open(part, 'wx', 0o600)).createWriteStream();
    const running = await askForBackup(data);
    if (running !== undefined) await pipeline(running, to);
    else await backUpUnused(data, to);
    const written = await readArchive(createReadStream(part), async (_name, content) => {
      for await (const _part of content);
    });
    await flush(part, constants.O_RDWR);
    await rename(part, target);
    await flush(dirname(target), constants.O_RDONLY);
    return written;
  } catch (error) {
    await rm(part, { force: true });
    if (!(error instanceof Error) || !unwritable.some((code) => isSystemError(error, code))) throw error;
    throw new StageError(`The backup cannot be written to ${target}: ${error.message}`, { cause: error });
  }
}

/** The system's reasons for which a file cannot be made or written. */
const unwritable = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT'];

/** Backs up a directory that no stage uses. The lock keeps one from starting meanwhile. */
async function backUpUnused(folder: string, to: Writable): Promise<void> {
  const { release } = await openDataDirectory(folder);
  try {
    const snapshot = await takeSnapshot(folder, undefined);
    try {
      await writeArchive(snapshot, to);
    } finally {
      await snapshot.remove();
    }
  } finally {
    release();
  }
}

/**
 * Puts a backup into a data directory that has no data.
 *
 * @throws StageError; the directory is then as it was before
 */
export async function restore(file: string, folder: string): Promise<Description> {
  const data = resolve(folder);
  const unfinished = join(data, restoring);
  // An interrupted restore has moved some files, and not the database.
  const wasInterrupted = existsSync(unfinished);
  const existing = [...needed, ...optional].find((name) => existsSync(join(data, name)));
  if (existing !== undefined && !(wasInterrupted && !existsSync(join(data, 'dynamodb.db')))) {
    throw new StageError(`${data} has data already: move it away, or choose another folder with --data-dir.`);
  }
  const source = await open(resolve(file), 'r').catch((error: unknown) => {
    throw new StageError(
      `The backup ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(join(unfinished, bodiesFolder), { recursive: true, mode: 0o700 });
  try {
    const taken = new Set<string>();
    const about = await readArchive(source.createReadStream(), async (name, content) => {
      if (!isFileOfBackup(name)) throw new StageError(`The backup has ${name}, which no stage has made.`);
      const path = join(unfinished, name);
      await pipeline(content, createWriteStream(path, { mode: 0o600 }));
      await flush(path, constants.O_RDWR);
      taken.add(name);
    });
    const missing = needed.find((name) => !taken.has(name));
    if (missing !== undefined) throw new StageError(`The backup is not whole: it has no ${missing}.`);
    await moveInto(unfinished, data);
    return about;
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}

/** Moves all files into place, the database last: a directory without it has no data. */
async function moveInto(from: string, data: string): Promise<void> {
  await rm(join(data, bodiesFolder), { recursive: true, force: true });
  const names = (await readdir(from)).toSorted((one) => (one === 'dynamodb.db' ? 1 : -1));
  for (const name of names) await rename(join(from, name), join(data, name));
  await flush(data, constants.O_RDONLY);
  await rm(from, { recursive: true });
}

/** Has a file, or the names in a folder, on the disk. */
async function flush(path: string, flags: number): Promise<void> {
  // Windows keeps the names of files itself.
  if (flags === constants.O_RDONLY && process.platform === 'win32') return;
  const file = await open(path, flags);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
