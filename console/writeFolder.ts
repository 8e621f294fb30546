import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export type Files = Iterable<readonly [path: string, content: string | Uint8Array]>;

/**
 * Writes files into a folder whose name ends with the hash of the contents, unless it exists. Several processes may do this at
 * once. A partial folder is never visible.
 *
 * @param start the folder's path without the hash
 * @returns the folder
 */
export function writeFolder(start: string, files: Files): string {
  const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  const hash = createHash('sha256');
  for (const [path, content] of sorted)
    hash.update(`${path}\0${Buffer.byteLength(content)}\0`).update(content);
  const folder = `${start}-${hash.digest('hex').slice(0, 16)}`;
  if (existsSync(folder)) return folder;

  const draft = `${folder}.${randomUUID()}`;
  for (const [path, content] of sorted) {
    mkdirSync(dirname(join(draft, path)), { recursive: true });
    writeFileSync(join(draft, path), content);
  }
  try {
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true });
    if (!existsSync(folder)) throw error; // Otherwise another process was first, with the same contents.
  }
  return folder;
}
