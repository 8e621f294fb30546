/** Backs up and restores a data directory. */
import { randomBytes } from 'node:crypto';
import { constants, createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { openDataDirectory } from '../stage/dataDirectory.ts';
import { StageError, isSystemError } from '../stage/stageError.ts';
import { markUsed, noteKill, openStore } from '../store/openStore.ts';
import { readArchive, type Description } from './archive.ts';
import { isOfBefore, refusalOf } from './before/folder.ts';
import { Filler } from './contents.ts';
import { askForBackup } from './control.ts';
import { needed, restoring, secretNames, storeName } from './files.ts';
import { writeBackup } from './writeBackup.ts';

interface Made extends Description {
  /** The number of rows, messages, schedules and objects. */
  readonly entries: number;
}

/**
 * Writes a backup to a file, completely or not at all. A stage may be using the directory.
 *
 * @returns the description, read back from the file
 * @throws StageError
 */
export async function backUp(folder: string, file: string): Promise<Made> {
  const data = resolve(folder);
  const refusal = await refusalOf(data);
  if (refusal !== undefined) throw new StageError(refusal);
  const missing = needed.find((name) => !existsSync(join(data, name)));
  if (missing !== undefined)
    throw new StageError(`${data} is not the data directory of a stage: it has no ${missing}.`);
  const target = resolve(file);
  // The name is random and the file must be new, because other users may write to the folder.
  const part = join(dirname(target), `.${basename(target)}.${randomBytes(12).toString('hex')}.part`);
  try {
    const to = (await open(part, 'wx', 0o600)).createWriteStream();
    const running = await askForBackup(data);
    if (running !== undefined) await pipeline(running, to);
    else await backUpUnused(data, to);
    let entries = 0;
    const about = await readArchive(createReadStream(part), {
      file: async (_name, content) => {
        for await (const _part of content);
      },
      line: () => {
        entries += 1;
        return Promise.resolve();
      },
    });
    await flush(part, constants.O_RDWR);
    await rename(part, target);
    await flush(dirname(target), constants.O_RDONLY);
    return { ...about, entries };
  } catch (error) {
    await rm(part, { force: true });
    if (!(error instanceof Error) || !unwritable.some((code) => isSystemError(error, code))) throw error;
    throw new StageError(`The backup cannot be written to ${target}: ${error.message}`, { cause: error });
  }
}

/** The system's errors if a file cannot be created or written. */
const unwritable = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT'];

/** Backs up a directory that no stage uses, and locks it so that no stage starts. */
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
 * @throws StageError; the directory is then unchanged
 */
export async function restore(file: string, folder: string): Promise<Made> {
  const data = resolve(folder);
  const unfinished = join(data, restoring);
  // An interrupted restore has moved some files, but not the store.
  const wasInterrupted = existsSync(unfinished) && !existsSync(join(data, storeName));
  const hasData = isOfBefore(data) || needed.some((name) => existsSync(join(data, name)));
  if (hasData && !wasInterrupted) {
    throw new StageError(`${data} has data already: move it away, or choose another folder with --data-dir.`);
  }
  const source = await open(resolve(file), 'r').catch((error: unknown) => {
    throw new StageError(
      `The backup ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  const { store } = await openStore(join(unfinished, storeName), false);
  try {
    const filler = new Filler(store);
    const taken = new Set<string>();
    const about = await readArchive(source.createReadStream(), {
      file: async (name, content) => {
        if (!secretNames.some((known) => known === name))
          throw new StageError(`The backup has ${name}, which is not from a stage.`);
        const path = join(unfinished, name);
        await pipeline(content, createWriteStream(path, { mode: 0o600 }));
        await flush(path, constants.O_RDWR);
        taken.add(name);
      },
      line: (text) => filler.take(text),
    });
    const missing = secretNames.find((name) => !taken.has(name));
    if (missing !== undefined) throw new StageError(`The backup is not whole: it has no ${missing}.`);
    await markUsed(store);
    // The stage was at work.
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

/** Moves all files into place, the store last: a directory without a store counts as empty. */
async function moveInto(from: string, data: string): Promise<void> {
  for (const name of needed) await rename(join(from, name), join(data, name));
  await flush(data, constants.O_RDONLY);
  await rm(from, { recursive: true });
}

/** Flushes a file, or the names in a folder, to the disk. */
async function flush(path: string, flags: number): Promise<void> {
  // Windows itself flushes the names of files.
  if (flags === constants.O_RDONLY && process.platform === 'win32') return;
  const file = await open(path, flags);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
