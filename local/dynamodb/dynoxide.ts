/**
 * Finds the program dynoxide. On Linux x64 it is installed with the project. Its maker publishes a package for each other
 * machine; the first start fetches the package of this machine with npm, and keeps it in `.cache/`. The service's own package comes
 * without the program, because apps that deploy the service need none: there the first start fetches it on every machine, into the
 * user's cache.
 *
 * They are not all optional dependencies, of which npm would choose the right one by itself: `npm ci` would fail with a registry
 * that lacks one of them, as some mirrors do.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { delimiter, dirname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import manifest from '../package.json' with { type: 'json' };
import { jsonOrUndefined } from '../json.ts';
import { StageError } from '../stage/stageError.ts';

/** The machines that dynoxide is published for, as Node.js names them. */
const published = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'win32-x64'];

const version = manifest.optionalDependencies['@dynoxide/linux-x64'];
const program = process.platform === 'win32' ? 'dynoxide.exe' : 'dynoxide';
const packageName = `@dynoxide/${process.platform}-${process.arch}`;

const otherwise =
  'put dynoxide on the PATH, or set DYNAMODB_ENDPOINT to the URL of any DynamoDB, DynamoDB Local included.';

/**
 * @param announce called when the program has to be fetched
 * @returns the path of the program
 * @throws StageError when this machine has none, and none can be fetched
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
    throw new StageError(`There is no DynamoDB for this machine: ${otherwise}`);
  }
  announce(`Fetching the local database, ${packageName} ${version}, this one time.`);
  await fetchInto(kept);
  if (isExecutable(keptProgram)) return keptProgram;
  throw new StageError(`The package ${packageName} ${version} has no program ${program}: ${otherwise}`);
}

function folderOfPackage(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${packageName}/package.json`));
  } catch {
    // The package is not installed: the PATH is looked at next.
    return undefined;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Missing, or not executable: the next candidate is tried.
    return false;
  }
}

/**
 * Finds the folder for what is fetched: `.cache` in the project's folder, or the user's for an installed package, whose folder npm
 * makes anew for each version. This file may run from its source, or from a bundle somewhere below the folder.
 */
function cacheFolder(): string {
  const here = import.meta.dirname;
  if (here.split(sep).includes('node_modules')) return join(homedir(), '.cache/svc-queue');
  const above = (folder: string): string =>
    existsSync(join(folder, 'package-lock.json')) || dirname(folder) === folder
      ? folder
      : above(dirname(folder));
  return join(above(here), '.cache');
}

/** The time for the download over a slow connection; npm itself gives up on a silent one earlier. */
const fetchLimitMs = 600_000;

/**
 * Installs the package into a folder, whole or not at all: npm installs elsewhere, and the result is moved.
 *
 * @throws StageError
 */
async function fetchInto(folder: string): Promise<void> {
  const draft = `${folder}.${randomUUID()}`;
  mkdirSync(draft, { recursive: true });
  try {
    await npmInstall(draft);
    rmSync(folder, { recursive: true, force: true });
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another stage, which started at the same time, has installed it first.
    if (existsSync(folder)) return;
    throw new StageError(
      `The local database, ${packageName} ${version}, could not be fetched (${reasonOf(error)}): ${otherwise}`,
      { cause: error },
    );
  }
}

async function npmInstall(folder: string): Promise<void> {
  const [file, ...first] = npmCommand();
  const options = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--json'];
  const args = [...first, 'install', '--prefix', folder, ...options, `${packageName}@${version}`];
  await promisify(execFile)(file, args, { cwd: folder, timeout: fetchLimitMs, windowsHide: true });
}

/** Finds npm: the one that runs this script, that of this Node.js, or the one on the PATH. */
function npmCommand(): readonly [file: string, ...args: string[]] {
  const node = dirname(process.execPath);
  const scripts = [
    join(dirname(process.env['npm_execpath'] ?? ''), 'npm-cli.js'),
    join(node, 'node_modules/npm/bin/npm-cli.js'),
    join(node, '../lib/node_modules/npm/bin/npm-cli.js'),
  ];
  const script = scripts.find((path) => existsSync(path));
  return script === undefined ? ['npm'] : [process.execPath, script];
}

const npmFailure = z.object({ stdout: z.string() });
const npmReport = z.object({ error: z.object({ summary: z.string() }) });

/** Reads the summary of npm's error, which it prints as an object with `--json`. */
function reasonOf(error: unknown): string {
  const { stdout = '' } = npmFailure.safeParse(error).data ?? {};
  const { summary } = npmReport.safeParse(jsonOrUndefined(stdout)).data?.error ?? {};
  return (summary ?? String(error)).split('\n')[0] ?? '';
}
