/** Writes files so that they survive a loss of power. */
import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Replaces a file, completely or not at all. Only its owner can read it.
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
    // The partial file would take up the last space of a full disk.
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  flushFolder(dirname(path));
}

/**
 * Writes all bytes, at a position or after the last write. A single call of the system may write only some.
 */
export function writeAll(file: number, bytes: Uint8Array, at?: number): void {
  for (let written = 0; written < bytes.length;) {
    const position = at === undefined ? null : at + written;
    written += writeSync(file, bytes, written, bytes.length - written, position);
  }
}

/** Flushes a file that another process or stream has written. */
export function flushFile(path: string): void {
  // Opened for writing: Windows flushes only such files.
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Windows flushes the names of files by itself. */
const canOpenFolders = process.platform !== 'win32';

/** Flushes the names in a folder. Without this, a new or renamed file could be lost. */
export function flushFolder(path: string): void {
  if (!canOpenFolders) return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
