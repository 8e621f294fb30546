/** Fetches packages with npm that only some machines or commands need. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod/mini';

/**
 * Finds the folder for fetched packages: `.cache` in the project's folder, or the user's cache for an installed package, whose
 * folder npm replaces. This file may run from source, or from a bundle in a folder below.
 */
export function cacheFolder(): string {
  const here = import.meta.dirname;
  if (here.split(sep).includes('node_modules')) return join(homedir(), '.cache/svc-queue');
  const above = (folder: string): string =>
    existsSync(join(folder, 'package-lock.json')) || dirname(folder) === folder
      ? folder
      : above(dirname(folder));
  return join(above(here), '.cache');
}

/** The time for the download on a slow connection. npm gives up earlier on a silent one. */
const fetchLimitMs = 600_000;

/**
 * Installs packages into a folder, completely or not at all.
 *
 * @param packages with versions, such as `constructs@10.8.1`
 * @param flags more flags of `npm install`
 * @throws Error with npm's reason, in one line
 */
export async function fetchInto(
  folder: string,
  packages: readonly string[],
  flags: readonly string[] = [],
): Promise<void> {
  const draft = `${folder}.${randomUUID()}`;
  mkdirSync(draft, { recursive: true });
  try {
    await npmInstall(draft, [...flags, ...packages]);
    rmSync(folder, { recursive: true, force: true });
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another process has installed it at the same time.
    if (existsSync(folder)) return;
    throw new Error(reasonOf(error), { cause: error });
  }
}

async function npmInstall(folder: string, packages: readonly string[]): Promise<void> {
  const [file, ...first] = npmCommand();
  const options = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--json'];
  const args = [...first, 'install', '--prefix', folder, ...options, ...packages];
  await promisify(execFile)(file, args, { cwd: folder, timeout: fetchLimitMs, windowsHide: true });
}

/** Finds npm: the one that runs this script, this Node.js's, or the one on the PATH. */
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

/** Reads the summary of npm's error, which `--json` prints as an object. */
function reasonOf(error: unknown): string {
  const { stdout = '' } = npmFailure.safeParse(error).data ?? {};
  return (summaryIn(stdout) ?? String(error)).split('\n')[0] ?? '';
}

function summaryIn(stdout: string): string | undefined {
  try {
    return npmReport.parse(JSON.parse(stdout)).error.summary;
  } catch {
    // npm did not run, or was killed. The original error says more.
    return undefined;
  }
}
