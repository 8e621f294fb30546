import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Makes a folder unless it is there. It is there whole or not at all: it is moved to its place when it is filled.
 *
 * @param fill puts everything into a draft of the folder
 * @returns the folder
 */
export async function makeOnce(folder: string, fill: (draft: string) => Promise<void>): Promise<string> {
  if (existsSync(folder)) return folder;
  const parent = dirname(folder);
  await mkdir(parent, { recursive: true });
  const draft = await mkdtemp(join(parent, 'draft-'));
  try {
    await fill(draft);
    // Temporary folders are closed to other accounts; servers that refuse to run as root have one.
    await chmod(draft, 0o755);
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}
