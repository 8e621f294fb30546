import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeOnce } from './makeOnce.ts';
import { runInstaller } from './run.ts';

/**
 * Installs packages that are not dependencies of the project into a separate folder. There is no lock file, because some
 * registry mirrors lack binaries of other platforms.
 *
 * @param what is installed, for the error message
 * @param cache the parent folder, with a folder for each set of versions
 * @returns the folder that contains the modules
 * @throws BenchError with the first lines of npm's error
 */
export const installPackages = (
  what: string,
  cache: string,
  versions: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<string> =>
  makeOnce(join(cache, Object.values(versions).join('-')), async (draft) => {
    await writeFile(join(draft, 'package.json'), JSON.stringify({ private: true, dependencies: versions }));
    console.log(`Installing ${what} ...`);
    await runInstaller({
      program: 'npm',
      args: ['install', '--no-package-lock', ...args, '--ignore-scripts', '--no-audit', '--no-fund'],
      cwd: draft,
      what,
      reasons: /(?<=^npm error ).*\S/gm,
    });
  });
