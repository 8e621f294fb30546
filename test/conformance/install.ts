/** Installs a version of a client once, into `.cache`, and returns the command that runs its operations. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { bundling, root } from '../support/bundledStage.ts';
import { limitForInstallsMs } from '../support/limits.ts';
import { findPython, installInto } from '../support/python.ts';
import type { Client, Version } from './clients.ts';

/** Fails with the program's error message. */
const run = promisify(execFile);

/** The folder of packages that are installed together, shared by clients that need the same. */
function homeOf({ name, registry }: Client, version: Version): string {
  const { packages } = version;
  const readable = [...(packages.length === 0 ? [`${name}@${version.name}`] : packages)].join('+');
  const hash = createHash('sha256').update(readable).digest('hex').slice(0, 8);
  const short = readable.replaceAll(/[^\w.@+=-]/g, '-').slice(0, 80);
  return join(root, '.cache/conformance', `${registry}-${short}-${hash}`);
}

/** The folder with a version's declarations, if the client has any. */
export const declarationsOf = (client: Client, version: Version): string | undefined =>
  client.declaredBy === undefined
    ? undefined
    : join(homeOf(client, version), 'node_modules', client.declaredBy);

/** Installations by folder, finished or not, so that clients that need the same share one. */
const installations = new Map<string, Promise<string>>();

function once(home: string, install: () => Promise<string>): Promise<string> {
  const installation = installations.get(home) ?? install();
  installations.set(home, installation);
  return installation;
}

async function installFromNpm(home: string, packages: readonly string[]): Promise<string> {
  const ready = join(home, 'installed');
  if (existsSync(ready)) return home;
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'package.json'), '{"private":true}');
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages];
  await run('npm', args, { cwd: home, timeout: limitForInstallsMs });
  writeFileSync(ready, '');
  return home;
}

/** Bundles a program beside the packages that it imports. */
async function bundled(home: string, source: string): Promise<readonly string[]> {
  const outfile = join(home, `${source.replaceAll(/\W/g, '-')}.mjs`);
  await build({
    ...bundling,
    splitting: false,
    entryPoints: [join(import.meta.dirname, source)],
    outfile,
    external: ['@upstash/*'],
  });
  return [process.execPath, outfile];
}

async function builtByGo(home: string, source: string): Promise<readonly string[]> {
  mkdirSync(home, { recursive: true });
  const program = join(home, 'operations');
  await run('go', ['build', '-o', program, '.'], {
    cwd: join(import.meta.dirname, source),
    timeout: limitForInstallsMs,
  });
  return [program];
}

async function builtByCargo(home: string, source: string): Promise<readonly string[]> {
  const args = ['build', '--quiet', '--locked', '--target-dir', home];
  await run('cargo', args, { cwd: join(import.meta.dirname, source), timeout: limitForInstallsMs });
  return [join(home, 'debug/operations')];
}

const pythonHome = join(root, '.cache/conformance/python');

/**
 * Installs into a separate folder for `PYTHONPATH`, with the pip of one virtual environment, because an environment per version
 * would take ten seconds more.
 *
 * @returns the interpreter
 */
async function installFromPyPi(home: string, packages: readonly string[]): Promise<string> {
  const python = findPython();
  if (python === undefined) throw new Error('There is no Python 3.10 or newer with its venv module.');
  const interpreter = join(pythonHome, 'bin/python');
  await once(pythonHome, () => installInto(pythonHome, python, ['pip']));
  const ready = join(home, 'installed');
  if (existsSync(ready)) return interpreter;
  rmSync(home, { recursive: true, force: true });
  const args = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--target', home];
  await run(interpreter, [...args, ...packages], { timeout: limitForInstallsMs });
  writeFileSync(ready, '');
  return interpreter;
}

interface Program {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Returns the program that runs the operations of a version. */
export async function programOf(client: Client, version: Version): Promise<Program> {
  const home = homeOf(client, version);
  switch (client.registry) {
    case 'PyPI': {
      const interpreter = await once(home, () => installFromPyPi(home, version.packages));
      const source = join(import.meta.dirname, client.program);
      return { command: [interpreter, source], env: { PYTHONPATH: home } };
    }
    case 'Go':
      return { command: await builtByGo(home, client.program) };
    case 'crates.io':
      return { command: await builtByCargo(home, client.program) };
    case 'program':
      return { command: await bundled(home, client.program) };
    case 'npm':
      await once(home, () => installFromNpm(home, version.packages));
      return { command: await bundled(home, client.program) };
  }
}
