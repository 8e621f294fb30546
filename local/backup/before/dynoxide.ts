/**
 * Finds dynoxide, the previous release's database program, for backups of that release. npm fetches it into the user's cache.
 */
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { cacheFolder, fetchInto } from '../../../cli/npm.ts';
import { StageError } from '../../stage/stageError.ts';

/** The platforms that dynoxide is published for, in Node.js's names. */
const published = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'win32-x64'];

const version = '1.2.1';
const program = process.platform === 'win32' ? 'dynoxide.exe' : 'dynoxide';
const packageName = `@dynoxide/${process.platform}-${process.arch}`;

const otherwise = 'put dynoxide on the PATH.';

/**
 * @param announce called before the program is fetched
 * @returns the path of the program
 * @throws StageError if it cannot be found or fetched
 */
export async function findDynoxide(announce: (sentence: string) => void): Promise<string> {
  const kept = join(cacheFolder(), `dynoxide-${version}-${process.platform}-${process.arch}`);
  const keptProgram = join(kept, 'node_modules', packageName, program);
  const here = [folderOfPackage(), ...(process.env['PATH'] ?? '').split(delimiter)]
    .filter((folder) => folder !== undefined)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, program));
  const found = [...here, keptProgram].find(isExecutable);
  if (found !== undefined) return found;
  if (!published.includes(`${process.platform}-${process.arch}`)) {
    throw new StageError(`The database of the previous release does not run on this machine: ${otherwise}`);
  }
  announce(`Fetching the database of the previous release, ${packageName} ${version}.`);
  try {
    await fetchInto(kept, [`${packageName}@${version}`]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StageError(
      `The database of the previous release, ${packageName} ${version}, could not be fetched (${reason}): ${otherwise}`,
      { cause: error },
    );
  }
  if (isExecutable(keptProgram)) return keptProgram;
  throw new StageError(`The package ${packageName} ${version} has no program ${program}: ${otherwise}`);
}

function folderOfPackage(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${packageName}/package.json`));
  } catch {
    // The package is not installed: the PATH is searched next.
    return undefined;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Missing or not executable.
    return false;
  }
}
