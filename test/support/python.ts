/** Pinned packages of PyPI, each in a virtual environment below `.cache` that is made once. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { limitForInstallsMs } from './limits.ts';

export interface PythonPackage {
  readonly name: string;
  readonly version: string;
}

/** The AWS CLI's first major version, which PyPI has. Commands for readers are those that both versions accept. */
export const awsCliPackage: PythonPackage = { name: 'awscli', version: '1.46.3' };

/**
 * Makes a package's virtual environment, unless it exists.
 *
 * @param python the result of {@link findPython}
 * @returns the interpreter that has the package
 */
export const installPackage = (python: string, { name, version }: PythonPackage): Promise<string> =>
  installInto(resolve(import.meta.dirname, '../../.cache', name, version), python, [`${name}==${version}`]);

/**
 * Makes a virtual environment in a folder, unless it exists.
 *
 * @param packages as for `pip install`
 * @returns its interpreter
 */
export async function installInto(
  home: string,
  python: string,
  packages: readonly string[],
): Promise<string> {
  const interpreter = join(home, 'bin/python');
  const ready = join(home, 'installed');
  if (existsSync(ready)) return interpreter;
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  await run(python, ['-m', 'venv', home]);
  await run(interpreter, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages]);
  writeFileSync(ready, '');
  return interpreter;
}

/** @returns Python 3.10 or newer from the PATH that can make virtual environments, if any */
export function findPython(): string | undefined {
  const names = ['python3', 'python', ...[14, 13, 12, 11, 10].map((minor) => `python3.${minor.toString()}`)];
  return names.find((name) => {
    try {
      execFileSync(name, ['-c', 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))'], {
        stdio: 'ignore',
      });
      return true;
    } catch {
      // Missing, too old, or without virtual environments: the next is tried.
      return false;
    }
  });
}

async function run(command: string, args: readonly string[]): Promise<void> {
  try {
    await promisify(execFile)(command, args, { timeout: limitForInstallsMs });
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
    throw new Error(`${command} ${args.join(' ')} failed\n${output}`, { cause: error });
  }
}
