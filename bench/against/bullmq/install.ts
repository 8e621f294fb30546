/**
 * Installs BullMQ, in the versions of the lock file in `packages`, into `.cache`. It is no dependency of the project: nobody
 * who does not ask for this comparison should load its 16 MB.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import { BenchError } from '../../benchError.ts';

const packages = join(import.meta.dirname, 'packages');
const cache = join(import.meta.dirname, '../../../.cache/bench/bullmq');
const files = ['package.json', 'package-lock.json'];

export interface Installed {
  readonly folder: string;
  readonly version: string;
}

/** @throws BenchError when npm cannot install it */
export async function installBullmq(): Promise<Installed> {
  const lock = await readFile(join(packages, 'package-lock.json'));
  const folder = join(cache, createHash('sha256').update(lock).digest('hex').slice(0, 16));
  if (!existsSync(folder)) await installInto(folder);
  const manifest = await readFile(join(folder, 'node_modules/bullmq/package.json'), 'utf8');
  return { folder, version: z.object({ version: z.string() }).parse(JSON.parse(manifest)).version };
}

/** Makes the folder, whole or not at all: it is moved to its place when npm has finished. */
async function installInto(folder: string): Promise<void> {
  console.log('Installing BullMQ into .cache ...');
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, 'draft-'));
  try {
    for (const name of files) await copyFile(join(packages, name), join(draft, name));
    await promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: draft });
    await rename(draft, folder);
  } catch (error) {
    throw new BenchError(`BullMQ could not be installed: ${String(error)}`, { cause: error });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
