/** Installs a version of a client, and runs its operations in a process of their own. */
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { bundling, root } from '../support/bundledStage.ts';
import { limitForInstallsMs } from '../support/limits.ts';
import { findPython, installInto } from '../support/python.ts';
import type { Client } from './clients.ts';
import { resultShape, type Result } from './result.ts';

/** The service and the account, and how it reaches this machine. */
export interface Target {
  readonly url: string;
  readonly token: string;
  /** Undefined where the service runs on this machine. */
  readonly receiver: { readonly url: string; readonly port: number } | undefined;
}

async function installFromNpm(home: string, name: string, version: string): Promise<void> {
  const ready = join(home, 'installed');
  if (existsSync(ready)) return;
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'package.json'), '{"private":true}');
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', `${name}@${version}`];
  await promisify(execFile)('npm', args, { cwd: home, timeout: limitForInstallsMs });
  writeFileSync(ready, '');
}

const homeOf = (name: string, version: string): string =>
  join(root, '.cache/conformance', `${name.replace('/', '-')}@${version}`);

/** Makes the command that runs the operations of a version. */
async function commandOf({ name, registry, program }: Client, version: string): Promise<readonly string[]> {
  const home = homeOf(name, version);
  const source = join(import.meta.dirname, program);
  if (registry === 'PyPI') {
    const python = findPython();
    if (python === undefined) throw new Error('There is no Python 3.10 or newer with its venv module.');
    return [await installInto(home, python, [`${name}==${version}`]), source];
  }
  if (registry === 'npm') await installFromNpm(home, name, version);
  // The bundle stands beside the installed client, and so finds that version of it.
  const bundle = join(home, 'operations.mjs');
  await build({
    ...bundling,
    splitting: false,
    entryPoints: [source],
    outfile: bundle,
    external: ['@upstash/*'],
  });
  return [process.execPath, bundle];
}

/** Runs the operations of one version. */
export async function resultsOf(client: Client, version: string, target: Target): Promise<readonly Result[]> {
  const [command = '', ...args] = await commandOf(client, version);
  const child = spawn(command, args, {
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      PYTHONDONTWRITEBYTECODE: '1',
      CONFORMANCE_URL: target.url,
      CONFORMANCE_TOKEN: target.token,
      ...(client.registry === 'npm' && {
        CONFORMANCE_DECLARATIONS: join(homeOf(client.name, version), 'node_modules', client.name),
      }),
      ...(target.receiver && {
        CONFORMANCE_RECEIVER: target.receiver.url,
        CONFORMANCE_RECEIVER_PORT: String(target.receiver.port),
      }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const errors = text(child.stderr);
  const results: Result[] = [];
  for await (const line of createInterface(child.stdout)) {
    // The Python client prints what it reads of a log.
    if (line.startsWith('{"operation"')) results.push(resultShape.parse(JSON.parse(line)));
  }
  if (results.length === 0) throw new Error(`${client.name}@${version} did not run:\n${await errors}`);
  return results;
}
