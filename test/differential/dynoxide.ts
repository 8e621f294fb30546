/** Finds dynoxide, another implementation of DynamoDB. npm fetches it if it is not installed. */
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { cacheFolder, fetchInto } from '../../cli/npm.ts';

const version = '1.2.1';
const program = process.platform === 'win32' ? 'dynoxide.exe' : 'dynoxide';
const packageName = `@dynoxide/${process.platform}-${process.arch}`;

/**
 * @returns the path of the program
 * @throws Error if it is neither found nor fetched
 */
export async function findDynoxide(): Promise<string> {
  const kept = join(cacheFolder(), `dynoxide-${version}-${process.platform}-${process.arch}`);
  const keptProgram = join(kept, 'node_modules', packageName, program);
  const here = [folderOfPackage(), ...(process.env['PATH'] ?? '').split(delimiter)]
    .filter((folder) => folder !== undefined)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, program));
  const found = [...here, keptProgram].find(isExecutable);
  if (found !== undefined) return found;
  await fetchInto(kept, [`${packageName}@${version}`]);
  return keptProgram;
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
