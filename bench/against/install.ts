/** Installs programs into folders of `.cache`, completely or not at all. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import { fetchInto } from '../../cli/npm.ts';
import { BenchError } from '../benchError.ts';

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

const failure = z.object({ stderr: z.string() });

interface Installer {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly what: string;
  /** The lines of npm's errors that give the reason. */
  readonly reasons?: RegExp;
}

/**
 * Runs an installer.
 *
 * @returns its output
 * @throws BenchError with the first lines of its error
 */
export async function runInstaller(installer: Installer): Promise<string> {
  const { program, args, cwd, env, what, reasons = /^.*\S/gm } = installer;
  try {
    const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
    return (await promisify(execFile)(program, args, options)).stdout;
  } catch (error) {
    const lines = failure.safeParse(error).data?.stderr.match(reasons) ?? [String(error)];
    throw new BenchError(`${program} could not install ${what}: ${lines.slice(0, 3).join(' ')}`, {
      cause: error,
    });
  }
}
