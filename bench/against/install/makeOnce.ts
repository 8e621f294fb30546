import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Creates a folder unless it exists. It is moved into place when it is filled, so a partial folder is never visible.
 *
 * @returns the folder
 */
export async function makeOnce(folder: string, fill: (draft: string) => Promise<void>): Promise<string> {
  if (existsSync(folder)) return folder;
  const parent = dirname(folder);
  await mkdir(parent, { recursive: true });
  const draft = await mkdtemp(join(parent, 'draft-'));
  try {
    await fill(draft);
    // Temporary folders are private, but some servers run in another account.
    await chmod(draft, 0o755);
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}
