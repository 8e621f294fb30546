/** `npm run docs` serves the documents as a site, and `npm run docs -- build` builds and checks it. */
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

const here = import.meta.dirname;
const file = (name: string): string => join(here, name);

function run(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { cwd: here, stdio: 'inherit' });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

const installed = file('node_modules/.package-lock.json');
const isInstalled =
  existsSync(installed) && statSync(installed).mtimeMs >= statSync(file('package-lock.json')).mtimeMs;

const [task = 'dev'] = process.argv.slice(2);
if (task !== 'dev' && task !== 'build') throw new Error(`The task is "${task}"; allowed are dev and build.`);

if (!isInstalled) run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
if (task === 'build') run(process.execPath, [file('../node_modules/typescript/bin/tsc'), '-p', '.']);
run(process.execPath, [file('node_modules/vitepress/bin/vitepress.js'), task, '.']);
if (task === 'build') run(process.execPath, ['--import', 'tsx', 'check.ts']);
