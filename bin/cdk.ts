/**
 * The CDK for commands that deploy: the CLI `aws-cdk`, and the app's libraries. If they are not beside this package, as in a
 * CDK app or a clone of the project, they are fetched once into the user's cache, and a copy of the command runs beside them.
 *
 * The CDK's toolkit library is not used: it has no approvals and no progress, depends on 145 packages, and cannot `bootstrap`
 * several regions at once.
 */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import { OperateError } from '../operate/operateError.ts';
import { cacheFolder, fetchInto } from '../cli/npm.ts';

const versions = {
  'aws-cdk': manifest.devDependencies['aws-cdk'],
  'aws-cdk-lib': manifest.devDependencies['aws-cdk-lib'],
  constructs: manifest.devDependencies.constructs,
};

/** @returns the folder of an installed package, if any */
function folderOf(name: string): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

export const hasCdk = (): boolean => Object.keys(versions).every((name) => folderOf(name) !== undefined);

/** Runs a program in this terminal. On Ctrl-C, the program decides how it ends. @returns its exit status */
function runHere(args: readonly string[], stdout: 'inherit' | 'stderr' = 'inherit'): Promise<number> {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, args, {
      stdio: ['inherit', stdout === 'stderr' ? process.stderr : 'inherit', 'inherit'],
    });
    // A terminal sends SIGINT to both processes. Other signals only reach this one.
    const passOn = (signal: NodeJS.Signals): void => {
      if (signal !== 'SIGINT') child.kill(signal);
    };
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    for (const signal of signals) process.on(signal, passOn);
    child.once('error', failed);
    child.once('close', (status) => {
      for (const signal of signals) process.off(signal, passOn);
      done(status ?? 1);
    });
  });
}

/** Deletes the folder after its use. */
async function inScratch<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-queue-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @returns the exit status of this process's command, which runs again beside the CDK
 * @throws OperateError if the CDK cannot be fetched
 */
export async function runBesideCdk(): Promise<number> {
  const kept = join(
    cacheFolder(),
    `cdk-${Object.values(versions)
      .join('-')
      .replaceAll(/[^\w.-]/g, '')}`,
  );
  if (!existsSync(kept)) {
    console.error(`Fetching the CDK ${versions['aws-cdk-lib']} once; this takes a minute.`);
    const packages = Object.entries(versions).map(([name, version]) => `${name}@${version}`);
    try {
      await fetchInto(kept, packages);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new OperateError(
        `The CDK could not be fetched (${reason}). Install it beside this package: npm install ${packages.join(' ')}`,
      );
    }
  }
  return inScratch((folder) => {
    symlinkSync(join(kept, 'node_modules'), join(folder, 'node_modules'), 'junction');
    cpSync(resolve(import.meta.dirname, '..'), join(folder, 'dist'), { recursive: true });
    return runHere([join(folder, 'dist/cli/svc-queue.js'), ...process.argv.slice(2)]);
  });
}

/**
 * Quotes a part of a shell command. The last part must have no quotes, because the CDK's CLI removes a pair around the whole.
 */
const quoted = (text: string): string =>
  /^[\w@%+=:,./\\-]+$/.test(text) ? text : `"${text.replaceAll('"', '\\"')}"`;

/**
 * Runs the CDK's CLI with the service's app in the current folder, with its `cdk.json` and `cdk.context.json`.
 *
 * @param use called at the end, with the folder of the templates and of the CLI's files
 */
export async function runCdk<T>(
  args: (folder: string) => readonly string[],
  use: (status: number, folder: string) => T,
  stdout: 'inherit' | 'stderr' = 'inherit',
): Promise<T> {
  const cli = folderOf('aws-cdk');
  if (cli === undefined) throw new Error('The package aws-cdk is not installed.');
  const [, command = ''] = process.argv;
  const app = [process.execPath, ...process.execArgv, command, 'app'].map(quoted).join(' ');
  return inScratch(async (folder) => {
    const always = [
      '--app',
      app,
      '--output',
      join(folder, 'cdk.out'),
      '--no-notices',
      '--version-reporting=false',
    ];
    const color = (process.env['NO_COLOR'] ?? '') === '' ? [] : ['--no-color'];
    return use(await runHere([join(cli, 'bin/cdk'), ...args(folder), ...always, ...color], stdout), folder);
  });
}
