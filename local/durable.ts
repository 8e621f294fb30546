/** Writes files durably: they survive a loss of power after the call returns. */
import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Replaces a file, completely or not at all. Only its owner may read it.
 *
 * @throws Error of the disk; the file is then unchanged
 */
export function replaceFile(path: string, bytes: Uint8Array): void {
  const temporary = `${path}.new`;
  const file = openSync(temporary, 'w', 0o600);
  try {
    chmodSync(temporary, 0o600);
    writeAll(file, bytes);
    fsyncSync(file);
  } catch (error) {
    // On a full disk, the partial file would take the last room.
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  flushFolder(dirname(path));
}

/** Writes all bytes, at a position or behind the last write: one call may write only some of them. */
export function writeAll(file: number, bytes: Uint8Array, at?: number): void {
  for (let written = 0; written < bytes.length;) {
    const position = at === undefined ? null : at + written;
    written += writeSync(file, bytes, written, bytes.length - written, position);
  }
}

/** Flushes a file that another process or stream has written. */
export function flushFile(path: string): void {
  // Windows flushes only files that are open for writing.
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Windows itself flushes the names of files. */
const canOpenFolders = process.platform !== 'win32';

/** Flushes the names in a folder. Without it, a new or renamed file may be lost. */
export function flushFolder(path: string): void {
  if (!canOpenFolders) return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
