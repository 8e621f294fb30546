/**
 * A copy of a data directory as it is at one moment, as a loss of power would leave it. The files of a stage that runs change while
 * they are copied. So the database is copied twice: first while it is used, and then, while its calls are held back, only the parts
 * that have changed since. The journals are copied at that moment too. Bodies never change, so it is enough that none is deleted.
 */
import { constants, copyFileSync, existsSync } from 'node:fs';
import { copyFile, mkdtemp, open, readdir, rm, stat, statfs, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Hold } from '../dynamodb/hold.ts';
import { StageError } from '../stage/stageError.ts';
import { bodiesFolder, needed, optional } from './files.ts';

/** Keeps a data directory still; absent where no stage uses it. */
export interface Still {
  readonly hold: Hold;
  /** Deletes no body until the returned function is called. */
  readonly holdDeletes: () => () => Promise<void>;
}

export interface Snapshot {
  /** The names in the data directory, each with the path of what it had. */
  readonly files: readonly (readonly [name: string, path: string])[];
  /** Milliseconds for which calls were held back. */
  readonly heldMs: number;
  readonly remove: () => Promise<void>;
}

export const temporaryPrefix = 'backup-';
const chunkBytes = 2 ** 20;
/** Room that a copy leaves for what is accepted meanwhile, in bytes. */
const reserve = 64 * 2 ** 20;

/** @throws StageError when the disk has no room for a copy of the database */
export async function takeSnapshot(folder: string, still: Still | undefined): Promise<Snapshot> {
  const database = join(folder, 'dynamodb.db');
  const { size } = await stat(database);
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize < size + reserve) {
    throw new StageError(
      `A backup needs ${megabytes(size + reserve)} MB of room beside the database; ${folder} has ${megabytes(bavail * bsize)}.`,
    );
  }
  const copies = await mkdtemp(join(folder, temporaryPrefix));
  const releaseDeletes = still?.holdDeletes();
  const remove = async (): Promise<void> => {
    await rm(copies, { recursive: true, force: true });
    await releaseDeletes?.();
  };
  try {
    const copied = join(copies, 'dynamodb.db');
    await copyFile(database, copied, constants.COPYFILE_FICLONE);
    const release = await still?.hold();
    const heldAt = performance.now();
    let names: readonly string[];
    try {
      if (release !== undefined) await copyChanges(database, copied);
      // Nothing else of this process runs until all is copied: what it notes in its journals fits to the database.
      names = [...needed, ...optional].filter((name) => existsSync(join(folder, name)));
      for (const name of names) {
        if (name !== 'dynamodb.db')
          copyFileSync(join(folder, name), join(copies, name), constants.COPYFILE_FICLONE);
      }
    } finally {
      release?.();
    }
    const heldMs = performance.now() - heldAt;
    const bodies = await readdir(join(folder, bodiesFolder));
    const files = [
      ...names.map((name) => [name, join(copies, name)] as const),
      ...bodies
        .filter((name) => name.endsWith('.object'))
        .map((name) => [`${bodiesFolder}/${name}`, join(folder, bodiesFolder, name)] as const),
    ];
    return { files, heldMs, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

const megabytes = (bytes: number): number => Math.ceil(bytes / 2 ** 20);

/** Writes the parts of a file that differ into its copy. */
async function copyChanges(from: string, to: string): Promise<void> {
  const [source, copy] = [await open(from, 'r'), await open(to, 'r+')];
  try {
    const { size } = await source.stat();
    await copy.truncate(size);
    for (let at = 0; at < size; at += chunkBytes) {
      const [now, before] = await Promise.all([chunkOf(source, at), chunkOf(copy, at)]);
      if (!now.equals(before)) await copy.write(now, 0, now.length, at);
    }
  } finally {
    await source.close();
    await copy.close();
  }
}

async function chunkOf(file: FileHandle, at: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, at);
  return buffer.subarray(0, bytesRead);
}
