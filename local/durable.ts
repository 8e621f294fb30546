/** Files that are on the disk when a call has returned: a loss of power takes nothing of them away. */
import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Replaces a file, whole or not at all. Only its owner may read it.
 *
 * @throws Error of the disk; the file is as it was before
 */
export function replaceFile(path: string, bytes: Uint8Array): void {
  const temporary = `${path}.new`;
  const file = openSync(temporary, 'w', 0o600);
  try {
    chmodSync(temporary, 0o600);
    writeAll(file, bytes);
    fsyncSync(file);
  } catch (error) {
    // On a full disk a part of it would take the room.
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  flushFolder(dirname(path));
}

/** Writes all bytes: one call may write a part of them only. */
export function writeAll(file: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
}

/** Windows keeps the names of files itself. */
const canOpenFolders = process.platform !== 'win32';

/** Flushes the names of a folder's files: a new or renamed file is lost without it. */
export function flushFolder(path: string): void {
  if (!canOpenFolders) return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
