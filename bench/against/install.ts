import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fetchInto } from '../../cli/npm.ts';
import { BenchError } from '../benchError.ts';

/**
 * Installs packages that are not dependencies of the project into a separate folder.
 *
 * @param what is installed, for the error message
 * @param cache the parent folder, with a folder for each set of versions
 * @param flags of npm
 * @returns the folder that contains the modules
 * @throws BenchError with npm's reason
 */
export async function installPackages(
  what: string,
  cache: string,
  versions: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
): Promise<string> {
  const folder = join(cache, Object.values(versions).join('-'));
  if (existsSync(folder)) return folder;
  console.log(`Installing ${what} ...`);
  const packages = Object.entries(versions).map(([name, version]) => `${name}@${version}`);
  await fetchInto(folder, packages, flags).catch((error: unknown) => {
    throw new BenchError(`npm could not install ${what}: ${String(error)}`, { cause: error });
  });
  return folder;
}
