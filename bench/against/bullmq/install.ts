/**
 * Installs BullMQ into `.cache`, with the web framework of the service that it is used in. They are no dependencies of the project:
 * nobody who does not ask for this comparison should load their 24 MB. There is no lock file: it would name the binaries of all
 * platforms, and a registry that leaves one of them out, as some mirrors do, would break `npm ci`.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { npm } from '../npm.ts';

const versions = { bullmq: '6.7.0', ioredis: '5.11.1', fastify: '5.12.8' };
export const bullmqVersion = versions.bullmq;

const cache = join(import.meta.dirname, '../../../.cache/bench/bullmq');

/**
 * @returns the folder whose modules it is among
 * @throws BenchError when npm cannot install it
 */
export async function installBullmq(): Promise<string> {
  const folder = join(cache, Object.values(versions).join('-'));
  if (!existsSync(folder)) await installInto(folder);
  return folder;
}

/** Makes the folder, whole or not at all: it is moved to its place when npm has finished. */
async function installInto(folder: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, 'draft-'));
  try {
    await writeFile(join(draft, 'package.json'), JSON.stringify({ private: true, dependencies: versions }));
    await npm(draft, 'BullMQ', ['install', '--no-package-lock']);
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
