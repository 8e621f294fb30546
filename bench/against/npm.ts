import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import { BenchError } from '../benchError.ts';

const failure = z.object({ stderr: z.string() });

/**
 * Runs npm in a folder.
 *
 * @param what it installs, as the error says it
 * @throws BenchError with the first lines of npm's own error
 */
export async function npm(folder: string, what: string, args: readonly string[]): Promise<void> {
  console.log(`Installing ${what} ...`);
  try {
    await promisify(execFile)('npm', [...args, '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: folder,
    });
  } catch (error) {
    const lines = failure.safeParse(error).data?.stderr.match(/(?<=^npm error ).*\S/gm) ?? [String(error)];
    throw new BenchError(`npm could not install ${what}: ${lines.slice(0, 3).join(' ')}`, { cause: error });
  }
}

/**
 * Installs packages that are no dependencies of the project, into a folder of their own. There is no lock file: it would name the
 * binaries of all platforms, and a registry that leaves one of them out, as some mirrors do, would break the installation.
 *
 * @param what they are, as the error says it
 * @param cache the folder for them, one for each set of versions
 * @param args of `npm install`, besides the usual ones
 * @returns the folder whose modules they are among
 * @throws BenchError when npm cannot install them
 */
export async function installPackages(
  what: string,
  cache: string,
  versions: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<string> {
  const folder = join(cache, Object.values(versions).join('-'));
  if (existsSync(folder)) return folder;
  await mkdir(cache, { recursive: true });
  // The folder is there whole or not at all: it is moved to its place when npm has finished.
  const draft = await mkdtemp(join(cache, 'draft-'));
  try {
    await writeFile(join(draft, 'package.json'), JSON.stringify({ private: true, dependencies: versions }));
    await npm(draft, what, ['install', '--no-package-lock', ...args]);
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}
