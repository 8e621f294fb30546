import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeOnce } from './makeOnce.ts';
import { runInstaller } from './run.ts';

/**
 * Runs npm in a folder.
 *
 * @param what it installs, as the error says it
 * @throws BenchError with the first lines of npm's own error
 */
export async function npm(folder: string, what: string, args: readonly string[]): Promise<void> {
  console.log(`Installing ${what} ...`);
  await runInstaller({
    program: 'npm',
    args: [...args, '--ignore-scripts', '--no-audit', '--no-fund'],
    cwd: folder,
    what,
    reasons: /(?<=^npm error ).*\S/gm,
  });
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
export const installPackages = (
  what: string,
  cache: string,
  versions: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<string> =>
  makeOnce(join(cache, Object.values(versions).join('-')), async (draft) => {
    await writeFile(join(draft, 'package.json'), JSON.stringify({ private: true, dependencies: versions }));
    await npm(draft, what, ['install', '--no-package-lock', ...args]);
  });
